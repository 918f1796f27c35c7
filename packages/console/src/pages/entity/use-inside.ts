/**
 * The reports on one entity, kept up to date: read anew after each commit in its entity group, and when the server is back.
 *
 * UI1  What is shown is of the newest read that was answered.            packages/console/test/entity.test.ts
 */

import type { RowsReport, VersionsReport } from '@sixtables/engine'
import { entityQuery, type FirstEntities, readFirst, readRows } from '../../api/entities.ts'
import { type CallOptions, getJson } from '../../api/http.ts'
import { useCommits, useLoaded } from '../../components/use-server.ts'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import type { EntityScope } from '../../model/scope.ts'
import { childrenMax } from './entity-list.tsx'

export interface Inside extends Pick<VersionsReport, 'versions'> {
  readonly rows: Pick<RowsReport, 'rows' | 'log'>
  readonly children: FirstEntities
}

const recordsShown = 100

/** Commits that come together are read once. */
const restMs = 60

export function useInside(scope: EntityScope, key: string) {
  const found = useLoaded<Inside>(entityQuery(scope, key), {
    read: (query, options) => readInside(scope, key, query, options),
  })
  useCommits(entityQuery(scope, formatKeyPath(parseKeyPath(key).slice(0, 1))), restMs, found.reload)
  return found
}

async function readInside(scope: EntityScope, key: string, query: string, options: CallOptions): Promise<Inside> {
  const [rows, { versions }, children] = await Promise.all([
    readRows<Inside['rows']>(`${query}&records=${recordsShown}`, options),
    getJson<VersionsReport>(`/emulator/inspect/versions?${query}`, options),
    readFirst(scope, key, childrenMax, options),
  ])
  return { rows, versions, children }
}
