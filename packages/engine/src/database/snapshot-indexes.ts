/**
 * Index rows for a transaction whose view is older than an index, and has none or some of its rows.
 *
 *   the definition row in the view says "serving"    the view has all rows
 *   it says something else, or is missing            the rows are computed from the entities in the view
 *
 * Each query then reads the entities of the kind through the view. A tracked view notes these reads, so that a change of a
 * result conflicts with the transaction. Only transactions that were open during a build need this.
 */
import type { RequestContext } from '../context.ts'
import { keyCodesOfPath, pathEnd } from '../encoding/key-codec.ts'
import { Overlay, overlaid } from '../history/overlay.ts'
import type { CataloguedIndex } from '../indexes/catalogue.ts'
import { identityOf } from '../indexes/definition.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import { type Plan, scansOf } from '../planner/plan-node.ts'
import { firstOf, type RowKey, rowsFrom } from '../storage/kv.ts'
import { entityRowKey } from '../tables/entities.ts'
import { kindPrefix } from '../tables/entities-by-kind.ts'
import { handRows, type IndexRules } from '../tables/entity-rows.ts'
import { isOf, prefixRange, rangeOfRow } from '../tables/rows.ts'
import type { TableView } from '../tables/table.ts'
import type { IndexedDatabase } from './index-builds/index-job.ts'

const rowsPerRead = 256

/** The view, completed with rows that it lacks. @param young - indexes that may serve only since a later moment */
export async function viewWithIndexes(
  context: RequestContext,
  view: TableView,
  database: Pick<IndexedDatabase, 'catalogue' | 'indexOptions'>,
  plan: Plan,
  young: readonly CataloguedIndex[],
): Promise<TableView> {
  const used = new Set(scansOf(plan.source).flatMap(({ index }) => (index === undefined ? [] : [identityOf(index)])))
  const lacking: CompositeIndex[] = []
  for (const index of young) {
    if (!used.has(identityOf(index))) continue
    // In a store that several processes share, rows of metadata have no past.
    const isShared = index.since !== undefined
    if (isShared || !(await isWhole(context, view, database.catalogue.rowOf(index)))) lacking.push(index)
  }
  if (lacking.length === 0 || plan.kind === undefined) return view
  const rows = new Overlay()
  const sink = {
    wants: (head: RowKey): boolean => isOf('EntitiesByCompositeProperty', head),
    write: (row: RowKey, value: Uint8Array | undefined): void => rows.write(row, value),
  }
  const rules: IndexRules = { indexes: lacking, indexOptions: database.indexOptions }
  const prefix = kindPrefix(plan.partitionCode, plan.kind)
  const under = plan.ancestorPath === undefined ? '' : plan.ancestorPath.slice(0, -pathEnd.length)
  const kindRows = view.scan(context, 'EntitiesByKind', prefixRange(prefix + under), { expect: rowsPerRead })
  for await (const { key } of rowsFrom(kindRows, rowsPerRead)) {
    const path = key.slice(prefix.length)
    const after = await view.get(context, 'Entities', entityRowKey(plan.partitionCode, path))
    handRows({ codes: keyCodesOfPath(plan.partitionCode, path), before: undefined, after }, rules, sink)
  }
  return overlaid(view, rows)
}

async function isWhole(context: RequestContext, view: TableView, row: RowKey): Promise<boolean> {
  // A scan of one row, because a view by entity groups can only look up entities.
  const scan = view.scan(context, 'Metadata', rangeOfRow(row), { expect: 1 })
  const found = await firstOf(scan)
  if (found === undefined) return false
  const { state } = JSON.parse(Buffer.from(found.value).toString('utf8')) as Pick<CataloguedIndex, 'state'>
  return state === 'serving'
}
