/** The results that the user has selected; they stay so while the table scrolls and its rows change. */
import { signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { EntityResult } from '../../api/datastore.ts'
import { formatKeyPath } from '../../model/key-text.ts'
import type { Pages } from '../../model/paging.ts'

export type Selection = ReturnType<typeof useSelection>

/** @param scopeName - a selection ends when it becomes another one */
export function useSelection(scopeName: string, pages: Pages<EntityResult>) {
  const chosen = useMemo(() => signal<ReadonlyMap<string, EntityResult>>(new Map()), [scopeName])
  const present = chosen.value
  /** Where the latest row was selected; rows that come above it move it. */
  const last = useRef({ index: 0, shift: 0 })
  const set = (rows: Iterable<readonly [string, EntityResult]>): void => {
    chosen.value = new Map(rows)
  }
  const named = (rows: readonly EntityResult[]) => rows.map((row) => [keyTextOf(row), row] as const)
  const isIn = (row: EntityResult): boolean => present.has(keyTextOf(row))
  const known = pages.rowsIn(0, pages.count)
  const now = new Map(present.size > 0 ? named(known) : [])
  const areAll = present.size > 0 && known.every(isIn)
  return {
    /** As they are now, where they are in the table. */
    rows: [...present].map(([name, row]) => now.get(name) ?? row),
    has: isIn,
    /** One row, or all from the one that was selected last to it. */
    toggle(row: EntityResult, index: number, isRange: boolean) {
      const { index: from, shift } = last.current
      const ends = [from + pages.shift - shift, index]
      if (!isRange) last.current = { index, shift: pages.shift }
      if (isRange) set([...present, ...named(pages.rowsIn(Math.min(...ends), Math.max(...ends)))])
      else if (isIn(row)) set([...present].filter(([name]) => name !== keyTextOf(row)))
      else set([...present, ...named([row])])
    },
    /** Whether all rows that were read are selected. */
    areAll,
    toggleAll: () => set(areAll ? [] : named(known)),
    clear: () => set([]),
  }
}

export function keyTextOf({ entity }: EntityResult): string {
  return formatKeyPath(entity.key.path)
}
