/**
 * Index rows that a store makes at their first read. The rows of a plan are made before the moment of the read is fixed: a
 * read of an older moment would have to make its own. The call waits while others continue.
 */
import type { RequestContext } from '../context.ts'
import { prefixEnd } from '../encoding/bytes.ts'
import { allOf, isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import { type PlanNode, scansOf } from '../planner/plan-node.ts'
import { whileWanted } from '../slices.ts'

/** Resolves when the store has all index rows of the plan. @throws CANCELLED, DEADLINE_EXCEEDED */
export function planRowsReady(context: RequestContext, store: OnDemandRows, plan: PlanNode): MaybePromise<void> {
  const onDemand = scansOf(plan).filter(
    ({ table }) => table === 'EntitiesByPropertyAsc' || table === 'EntitiesByPropertyDesc',
  )
  const ready = allOf(onDemand, ({ prefix }) => store.prepare({ start: prefix, end: prefixEnd(prefix) }))
  if (isPromise(ready)) return whileWanted(context, ready).then(() => {})
}
