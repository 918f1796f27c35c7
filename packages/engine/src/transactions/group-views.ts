/**
 * The tables of a transaction that reads each entity group as of its own first read: a row of Entities is looked up in the
 * view of its group, a scan (of an ancestor query, so within one group) in the view of the only group there is.
 */
import type { RequestContext } from '../context.ts'
import { invariant } from '../invariant.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { codesOfEntityRow } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf } from '../tables/log-rows.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

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

  scan(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    options?: { readonly reverse?: boolean; readonly expect?: number },
  ): RowScan {
    const [view, ...others] = this.#views.values()
    invariant(view !== undefined && others.length === 0, 'a scan by group is of one group')
    return view.scan(context, table, range, options)
  }
}
