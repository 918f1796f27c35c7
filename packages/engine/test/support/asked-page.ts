/** One answer of a query and its cost, over a store that answers without a promise; for tests of the executor. */

import { CountingLedger, type RequestContextOptions, requestContext } from '../../src/context.ts'
import { execute } from '../../src/executor/execute.ts'
import type { ResultPage } from '../../src/executor/result-page.ts'
import { type AnswerLimits, windowOf } from '../../src/executor/window.ts'
import type { CompositeIndex } from '../../src/model/index-definition.ts'
import { formatKey } from '../../src/model/key.ts'
import { normalize } from '../../src/planner/normalize.ts'
import { plan } from '../../src/planner/plan.ts'
import type { MemoryKv } from '../../src/storage/memory-kv.ts'
import { KvTableView, type TableView } from '../../src/tables/table.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import { entity, type ModelEntity, type QueryWords, query, queryDatabase } from '../../src/testing/query-world.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export interface Asked {
  readonly page: ResultPage
  readonly keys: string[]
  readonly ledger: CountingLedger
}

export function ask(
  store: MemoryKv | TableView,
  words: QueryWords,
  { indexes = [], ...limits }: AnswerLimits & { indexes?: readonly CompositeIndex[] } = {},
  options: Partial<RequestContextOptions> = {},
): Asked {
  const asked = query(words)
  const planned = plan(normalize(asked, queryDatabase), indexes)
  const ledger = new CountingLedger()
  const context = requestContext({ clock: new VirtualClock(), ledger, ...options })
  const view = 'mutate' in store ? new KvTableView(store) : store
  const page = atOnce(execute({ context, view, plan: planned }, windowOf(asked, planned, limits)))
  return { page, keys: page.results.map((result) => formatKey(result.key)), ledger }
}

/** A:1, A:2, … with p = 0, 1, 2, 0, … */
export const numbered = (count: number): ModelEntity[] =>
  Array.from({ length: count }, (_, i) => entity(`A:${i + 1}`, { p: BigInt(i % 3), all: true }))
