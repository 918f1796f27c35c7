/**
 * Commits of other clients, gathered so that a view reads again a few times a second at most.
 * The first commit after a pause is told within `firstMs`, however many follow.
 */

import type { CommitReport } from '@sixtables/engine'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { StoreEvent } from '../../api/events.ts'
import { useEvents } from '../../components/use-server.ts'

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
  const gathered = useMemo(() => gatherer((changes) => latest.current(changes)), [project, database])
  useEffect(() => gathered.close, [gathered])
  const where = project === '' ? {} : { project, database }
  const query = new URLSearchParams({ list: String(listed), rows: '0', ...where })
  useEvents<StoreEvent>(`/emulator/commits?${query}`, { onEvent: gathered.add, onOpened: () => gathered.note([]) })
}

function gatherer(tell: (changes: Changes) => void) {
  let names = new Set<string>()
  let isAll = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let toldAt = 0
  /** Changes of commits that queries do not see yet, by version. */
  const waiting = new Map<string, readonly string[]>()
  const told = (): void => {
    const [all, changed] = [isAll, names]
    timer = undefined
    toldAt = Date.now()
    isAll = false
    names = new Set()
    tell({ isAll: all, has: (namespace, kind) => all || changed.has(nameOf(namespace, kind)) })
  }
  /** @param changed - empty: any kind may have changed */
  const note = (changed: readonly string[]): void => {
    for (const name of changed) names.add(name)
    if (changed.length === 0) isAll = true
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
