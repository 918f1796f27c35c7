/**
 * Commits of other clients, gathered so that a view reads again a few times a second at most.
 *
 * CM1  The first commit after a pause is told within `firstMs`, however many follow.
 */
import { useEffect, useRef } from 'preact/hooks'
import { openEvents } from '../../api/events.ts'

const firstMs = 40
const nextMs = 500

/** As far as it is read here; docs/reference/http.md has all of it. */
interface CommitEvent {
  readonly commit?: Commit
  readonly apply?: Omit<Commit, 'changes'> & { readonly milestone: 'A' | 'B' }
  readonly reload?: object
  readonly lost?: number
}

interface Commit {
  readonly version: string
  readonly changes?: readonly { readonly operation: string; readonly kind: string; readonly namespace: string }[]
  readonly moreChanges?: number
  readonly waits?: boolean
}

/** The kinds that have changed: by namespace and kind. `all`: any may have. */
export interface Changes {
  readonly isAll: boolean
  /** Whether a kind may have come or gone. */
  has(namespace: string, kind: string): boolean
}

/** Tells of changes in a database; in all of them without a project. */
export function useChanges(project: string, database: string, onChanges: (changes: Changes) => void): void {
  const latest = useRef(onChanges)
  latest.current = onChanges
  useEffect(() => {
    const gathered = new Gathered((changes) => latest.current(changes))
    const query = project === '' ? '' : `?${new URLSearchParams({ project, database }).toString()}`
    const close = openEvents<CommitEvent>(`/emulator/commits${query}`, {
      onEvent: (event) => gathered.add(event),
      onOpened: () => gathered.addAll(),
    })
    return () => {
      close()
      gathered.close()
    }
  }, [project, database])
}

class Gathered {
  readonly #tell: (changes: Changes) => void
  readonly #names = new Set<string>()
  /** Changes of commits that queries do not see yet, by version. */
  readonly #waiting = new Map<string, readonly string[]>()
  #isAll = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #toldAt = 0

  constructor(tell: (changes: Changes) => void) {
    this.#tell = tell
  }

  add({ commit, apply, reload, lost }: CommitEvent): void {
    if (reload !== undefined || lost !== undefined) this.addAll()
    if (commit !== undefined) {
      const names = namesOf(commit)
      if (commit.waits === true) this.#waiting.set(commit.version, names)
      this.#note(names)
    } else if (apply?.milestone === 'B') {
      const names = this.#waiting.get(apply.version)
      if (names === undefined) return
      this.#note(names)
    }
  }

  addAll(): void {
    this.#isAll = true
    this.#schedule()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #note(names: readonly string[]): void {
    for (const name of names) this.#names.add(name)
    if (names.length === 0) this.#isAll = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#timer !== undefined) return
    const wait = Math.max(firstMs, this.#toldAt + nextMs - Date.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#toldAt = Date.now()
      const [isAll, names] = [this.#isAll, new Set(this.#names)]
      this.#isAll = false
      this.#names.clear()
      this.#tell({ isAll, has: (namespace, kind) => isAll || names.has(nameOf(namespace, kind)) })
    }, wait)
  }
}

/** Empty when some changes are not named. */
function namesOf({ changes = [], moreChanges = 0 }: Commit): readonly string[] {
  return moreChanges > 0 ? [] : changes.map(({ namespace, kind }) => nameOf(namespace, kind))
}

function nameOf(namespace: string, kind: string): string {
  return JSON.stringify([namespace, kind])
}
