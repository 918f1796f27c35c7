/** Queries planned and run in a property test: whatever indexes they ask for are there. */
import { expect } from 'vitest'
import { requestContext } from '../../src/context.ts'
import { decodeProperties } from '../../src/encoding/entity-codec.ts'
import { valueCode } from '../../src/encoding/value-codec.ts'
import { execute } from '../../src/executor/execute.ts'
import type { PageResult, ResultPage } from '../../src/executor/result-page.ts'
import { type AnswerLimits, windowOf } from '../../src/executor/window.ts'
import type { CompositeIndex, IndexDefinition } from '../../src/model/index-definition.ts'
import { formatKey, kindOf } from '../../src/model/key.ts'
import type { Query } from '../../src/model/query.ts'
import type { IndexableValue } from '../../src/model/value.ts'
import { MissingIndexError } from '../../src/planner/missing-index.ts'
import { normalize } from '../../src/planner/normalize.ts'
import { plan } from '../../src/planner/plan.ts'
import type { Plan } from '../../src/planner/plan-node.ts'
import type { TableView } from '../../src/tables/table.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import type { ModelEntity } from '../../src/testing/query-world.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { database } from './query-arbitraries.ts'
import { type ModelOrder, type ModelRow, openOrders } from './query-model.ts'

/** The plan, with every composite index it asks for. */
export function planWithIndexes(
  query: Query,
  spare: readonly IndexDefinition[],
): { planned: Plan; indexes: CompositeIndex[] } {
  const indexes: CompositeIndex[] = spare.map((index, i) => ({ ...index, id: BigInt(i + 1) }))
  for (;;) {
    try {
      return { planned: plan(normalize(query, database), indexes), indexes }
    } catch (error) {
      if (!(error instanceof MissingIndexError)) throw error
      expect(indexes).not.toContainEqual(
        expect.objectContaining({ properties: error.index.properties, ancestor: error.index.ancestor }),
      )
      indexes.push({ ...error.index, id: BigInt(indexes.length + 1) })
    }
  }
}

/** The order of a plan's rows, which must be one that the query leaves open. */
export function orderOf(query: Query, { columns, lateColumns, reverse }: Plan): readonly ModelOrder[] {
  const key = { property: '__key__', direction: reverse ? 'descending' : 'ascending' }
  const words = (order: readonly (readonly [string, unknown])[]) => JSON.stringify(order)
  const planned = words([...columns, key, ...lateColumns].map(({ property, direction }) => [property, direction]))
  const found = openOrders(query).find(
    (order) =>
      words(order.map(({ property, sign }) => [property, sign === 1 ? 'ascending' : 'descending'])) === planned,
  )
  if (found === undefined) throw new Error(`the plan's order ${planned} is none of the query's`)
  return found
}

/** One answer, from a store that answers at once. */
export function runPlan(view: TableView, planned: Plan, query: Query, limits: AnswerLimits = {}): ResultPage {
  const context = requestContext({ clock: new VirtualClock() })
  return atOnce(execute({ context, view, plan: planned }, windowOf(query, planned, limits)))
}

/** A result in words: its key, and the codes of what is projected. */
export function words(result: PageResult): string {
  const projected = result.projected === undefined ? [] : [...decodeProperties(result.projected)]
  return [
    formatKey(result.key),
    ...projected.map(([name, value]) => `${name}=${valueCode(value as IndexableValue)}`),
  ].join(' ')
}

/** The model's rows in the same words. */
export function expectedWords(query: Query, rows: readonly ModelRow[], planned: Plan): string[] {
  const names = query.projection.filter((name) => name !== '__key__')
  return rows.map(({ key, values }) =>
    [
      formatKey(key),
      ...names.map((name) => {
        const i = [...planned.columns, ...planned.lateColumns].findIndex(({ property }) => property === name)
        return `${name}=${valueCode(values[i] as IndexableValue)}`
      }),
    ].join(' '),
  )
}

/** Whether the language has no such query. */
export function isRefused(query: Query): boolean {
  try {
    normalize(query, database)
    return false
  } catch {
    return true
  }
}

export function singleValued({ key, properties }: ModelEntity): boolean {
  return (
    kindOf(key) !== '' && [...properties.values()].every((value) => value.type !== 'array' || value.values.length < 2)
  )
}
