/**
 * The reports on one entity, kept up to date: read anew after each commit in its entity group, and when the server is back.
 *
 * UI1  What is shown is of the newest read that was answered.            packages/console/test/entity.test.ts
 */

import type { RowReport, RowsReport, VersionsReport } from '@sixtables/engine'
import { entityQuery, type FirstEntities, readFirst, readRows } from '../../api/entities.ts'
import { type CallOptions, getJson } from '../../api/http.ts'
import { useCommits, useEvents, useLoaded, useSoon } from '../../components/use-server.ts'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import type { EntityScope } from '../../model/scope.ts'
import type { StoreEvent } from '../../model/store-events.ts'
import { childrenMax } from './entity-list.tsx'

export interface Inside extends Pick<VersionsReport, 'versions'> {
  readonly rows: Pick<RowsReport, 'rows' | 'log'>
}

const recordsShown = 100

/** Commits that come together are read once. */
const restMs = 60

export function useInside(scope: EntityScope, key: string) {
  const found = useLoaded<Inside>(entityQuery(scope, key), { read: readInside })
  useCommits(entityQuery(scope, formatKeyPath(parseKeyPath(key).slice(0, 1))), restMs, found.reload)
  return found
}

/** The first entities below it, read anew when one of them is written. @param own - rows of the entity itself */
export function useChildren(scope: EntityScope, key: string, own: readonly RowReport[] = []) {
  const query = entityQuery(scope, key)
  const found = useLoaded<FirstEntities>(query, {
    read: (_, options) => readFirst(scope, key, childrenMax, options),
  })
  const soon = useSoon(restMs, found.reload)
  const entityRow = own.find(({ table }) => table === 'Entities')?.rowKey
  const isOfOthers = ({ commit, apply }: StoreEvent): boolean =>
    apply === undefined
      ? commit === undefined
      : apply.milestone === 'A' && (apply.moreRows !== undefined || apply.rows[0]?.rowKey !== entityRow)
  useEvents<StoreEvent>(`/emulator/commits?${query}&list=1`, {
    onEvent: (event) => {
      if (isOfOthers(event)) soon()
    },
    onOpened: soon,
  })
  return found
}

async function readInside(query: string, options: CallOptions): Promise<Inside> {
  const [rows, { versions }] = await Promise.all([
    readRows<Inside['rows']>(`${query}&records=${recordsShown}`, options),
    getJson<VersionsReport>(`/emulator/inspect/versions?${query}`, options),
  ])
  return { rows, versions }
}
