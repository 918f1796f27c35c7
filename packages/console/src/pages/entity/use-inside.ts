/**
 * The reports on one entity, kept up to date: read anew after each commit in its entity group, and when the server is back.
 *
 * UI1  What is shown is of the newest read that was answered.            packages/console/test/entity.test.ts
 */
import type { RowsReport, VersionsReport } from '@sixtables/engine'
import { entityQuery, type FirstEntities, readFirst, readRows } from '../../api/entities.ts'
import type { StoreEvent } from '../../api/events.ts'
import { type CallOptions, getJson } from '../../api/http.ts'
import { useEvents, useLoaded, useSoon } from '../../components/use-server.ts'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import type { EntityScope } from '../../model/scope.ts'

export interface InsideProps {
  readonly scope: EntityScope
  readonly entityKey: string
  readonly query: URLSearchParams
}

interface Inside extends Pick<VersionsReport, 'versions'> {
  readonly rows: Pick<RowsReport, 'rows' | 'log'>
}

const recordsShown = 100
const childrenMax = 50

/** Commits that come together are read once. */
const restMs = 60

/** `inside` is read anew after each commit of the group, `children` when another entity of the group is written. */
export function useInside(scope: EntityScope, key: string) {
  const query = entityQuery(scope, key)
  const inside = useLoaded<Inside>(query, { read: readInside })
  const children = useLoaded<FirstEntities>(query, {
    read: (_, options) => readFirst(scope, key, childrenMax, options),
  })
  const [soon, childrenSoon] = [useSoon(restMs, inside.reload), useSoon(restMs, children.reload)]
  const own = inside.value?.rows.rows.find(({ table }) => table === 'Entities')?.rowKey
  const isOfOthers = ({ commit, apply }: StoreEvent): boolean =>
    apply === undefined
      ? commit === undefined
      : apply.milestone === 'A' && (apply.moreRows !== undefined || apply.rows[0]?.rowKey !== own)
  // One stream for both: a browser has few connections for all pages of a server.
  const group = entityQuery(scope, formatKeyPath(parseKeyPath(key).slice(0, 1)))
  useEvents<StoreEvent>(`/emulator/commits?${group}&list=1`, {
    onEvent: (event) => {
      soon()
      if (isOfOthers(event)) childrenSoon()
    },
    onOpened: () => {
      soon()
      childrenSoon()
    },
  })
  return { inside, children }
}

async function readInside(query: string, options: CallOptions): Promise<Inside> {
  const [rows, { versions }] = await Promise.all([
    readRows<Inside['rows']>(`${query}&records=${recordsShown}`, options),
    getJson<VersionsReport>(`/emulator/inspect/versions?${query}`, options),
  ])
  return { rows, versions }
}
