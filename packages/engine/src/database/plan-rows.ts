/**
 * Index rows that a store makes at their first read. The rows of a plan are made before the moment of the read is fixed: a
 * read of an older moment would have to make its own. The call waits while others continue.
 */
import type { RequestContext } from '../context.ts'
import { prefixEnd } from '../encoding/bytes.ts'
import { allOf, isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { PlanNode } from '../planner/plan-node.ts'
import { whileWanted } from '../slices.ts'

/** Resolves when the store has all index rows of the plan. @throws CANCELLED, DEADLINE_EXCEEDED */
export function planRowsReady(
  context: RequestContext,
  store: OnDemandRows | undefined,
  plan: PlanNode,
): MaybePromise<void> {
  if (store === undefined) return
  const ready = allOf(scannedPrefixes(plan), (prefix) => store.prepare({ start: prefix, end: prefixEnd(prefix) }))
  if (isPromise(ready)) return whileWanted(context, ready).then(() => {})
}

function scannedPrefixes(node: PlanNode): readonly string[] {
  switch (node.type) {
    case 'scan':
      return node.table === 'EntitiesByPropertyAsc' || node.table === 'EntitiesByPropertyDesc' ? [node.prefix] : []
    case 'mergeJoin':
    case 'union':
      return node.inputs.flatMap(scannedPrefixes)
    case 'filter':
    case 'late':
      return scannedPrefixes(node.input)
    case 'empty':
      return []
  }
}
