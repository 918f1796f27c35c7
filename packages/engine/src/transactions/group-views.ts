/**
 * The tables of a transaction that reads by entity group. A look-up in Entities uses the view of the row's group. A scan
 * belongs to an ancestor query, so it has one group and uses that group's view.
 */
import type { RequestContext } from '../context.ts'
import { invariant } from '../invariant.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { codesOfEntityRow } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf } from '../tables/log-rows.ts'
import type { RowScan, ScanDirection, TableId, TableView } from '../tables/table.ts'

export class GroupViews implements TableView {
  readonly #views: ReadonlyMap<GroupCode, TableView>

  constructor(views: ReadonlyMap<GroupCode, TableView>) {
    this.#views = views
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    const { partition, path } = codesOfEntityRow(row)
    const group = groupOf(partition, path)
    const view = this.#views.get(group)
    invariant(table === 'Entities' && view !== undefined, 'a group is read only through its own snapshot')
    return view.get(context, table, row)
  }

  scan(context: RequestContext, table: TableId, range: KeyRange, options?: ScanDirection): RowScan {
    const [view, ...others] = this.#views.values()
    invariant(view !== undefined && others.length === 0, 'a scan by group is of one group')
    return view.scan(context, table, range, options)
  }
}
