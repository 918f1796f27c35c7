/**
 * Commits of other clients, gathered so that a view reads again a few times a second at most.
 * The first commit after a pause is told within `firstMs`, however many follow.
 */

import type { CommitReport } from '@sixtables/engine'
import { useEffect, useRef } from 'preact/hooks'
import { openEvents, type StoreEvent } from '../../api/events.ts'

const firstMs = 40
const nextMs = 500
/** Changes that an event names at most. */
const listed = 20
/** Commits that wait to be applied, of which the kinds are kept. */
const waitingMax = 1000

/** The kinds that have changed: by namespace and kind. `all`: any may have. */
export interface Changes {
  readonly isAll: boolean
  has(namespace: string, kind: string): boolean
}

/** Tells of changes in a database; in all of them without a project. */
export function useChanges(project: string, database: string, onChanges: (changes: Changes) => void): void {
  const latest = useRef(onChanges)
  latest.current = onChanges
  useEffect(() => {
    const gathered = new Gathered((changes) => latest.current(changes))
    const query = new URLSearchParams({
      list: String(listed),
      rows: '0',
      ...(project === '' ? {} : { project, database }),
    })
    const close = openEvents<StoreEvent>(`/emulator/commits?${query.toString()}`, {
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

  add({ commit, apply, reload, lost }: StoreEvent): void {
    if (reload !== undefined || lost !== undefined) this.addAll()
    if (commit !== undefined) {
      const names = namesOf(commit)
      if (commit.waits) this.#keep(commit.version, names)
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

  #keep(version: string, names: readonly string[]): void {
    this.#waiting.set(version, names)
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > waitingMax && oldest !== undefined) this.#waiting.delete(oldest)
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
function namesOf({ changes, moreChanges = 0 }: CommitReport): readonly string[] {
  return moreChanges > 0 ? [] : changes.map(({ namespace = '', kind }) => nameOf(namespace, kind))
}

function nameOf(namespace: string, kind: string): string {
  return JSON.stringify([namespace, kind])
}
