/** Commits, gathered so that a view reads again a few times a second at most; the first after a pause is told within `firstMs`. */
import type { CommitReport } from '@sixtables/engine'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { StoreEvent } from '../../api/events.ts'
import { useEvents } from '../../components/use-server.ts'

const firstMs = 40
const nextMs = 500
const listed = 20
/** Commits that wait to be applied, of which the kinds are kept. */
const waitingMax = 1000

/** Whether entities of a kind may have changed. */
export type Changed = (namespace: string, kind: string) => boolean

/** Tells of changes in a database; in all of them without a project. */
export function useChanges(project: string, database: string, onChanges: (changed: Changed) => void): void {
  const latest = useRef(onChanges)
  latest.current = onChanges
  const gathered = useMemo(() => gatherer((changed) => latest.current(changed)), [project, database])
  useEffect(() => gathered.close, [gathered])
  const where = project === '' ? {} : { project, database }
  const query = new URLSearchParams({ list: String(listed), rows: '0', ...where })
  useEvents<StoreEvent>(`/emulator/commits?${query}`, { onEvent: gathered.add, onOpened: () => gathered.note([]) })
}

function gatherer(tell: (changed: Changed) => void) {
  /** `undefined`: any kind may have changed. */
  let names: ReadonlySet<string> | undefined = new Set()
  let timer: ReturnType<typeof setTimeout> | undefined
  let toldAt = 0
  /** Changes of commits that queries do not see yet, by version. */
  const waiting = new Map<string, readonly string[]>()
  const told = (): void => {
    const changed = names
    timer = undefined
    toldAt = Date.now()
    names = new Set()
    tell((namespace, kind) => changed?.has(nameOf(namespace, kind)) ?? true)
  }
  /** @param changed - empty: any kind may have changed */
  const note = (changed: readonly string[]): void => {
    names = names === undefined || changed.length === 0 ? undefined : new Set([...names, ...changed])
    timer ??= setTimeout(told, Math.max(firstMs, toldAt + nextMs - Date.now()))
  }
  const add = ({ commit, apply, reload, lost }: StoreEvent): void => {
    if (reload !== undefined || lost !== undefined) note([])
    if (commit === undefined) {
      const changed = apply?.milestone === 'B' ? waiting.get(apply.version) : undefined
      if (changed !== undefined) note(changed)
      return
    }
    const changed = namesOf(commit)
    if (commit.waits) waiting.set(commit.version, changed)
    const [oldest] = waiting.keys()
    if (waiting.size > waitingMax && oldest !== undefined) waiting.delete(oldest)
    note(changed)
  }
  return { add, note, close: () => clearTimeout(timer) }
}

/** Empty when some changes are not named. */
function namesOf({ changes, moreChanges = 0 }: CommitReport): readonly string[] {
  return moreChanges > 0 ? [] : changes.map(({ namespace = '', kind }) => nameOf(namespace, kind))
}

function nameOf(namespace: string, kind: string): string {
  return JSON.stringify([namespace, kind])
}
