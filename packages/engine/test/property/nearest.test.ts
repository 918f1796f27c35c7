/** Search by vector against a sort of everything (nearest/NN1), over stores that answer at once and by promise. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { systemScheduler } from '../../src/clock.ts'
import { requestContext } from '../../src/context.ts'
import { decodeProperties } from '../../src/encoding/entity-codec.ts'
import { findNearest } from '../../src/executor/nearest.ts'
import { planNearest } from '../../src/executor/nearest-query.ts'
import type { ResultPage } from '../../src/executor/result-page.ts'
import { windowOf } from '../../src/executor/window.ts'
import { invariant } from '../../src/invariant.ts'
import { formatKey } from '../../src/model/key.ts'
import type { DistanceMeasure, NearestQuery, Query } from '../../src/model/query.ts'
import { type Value, vectorMeaning } from '../../src/model/value.ts'
import { normalize } from '../../src/planner/normalize.ts'
import { plan } from '../../src/planner/plan.ts'
import { KvTableView } from '../../src/tables/table.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { entity, type ModelEntity, query, queryDatabase, storeOf, where } from '../../src/testing/query-world.ts'
import { compareKeys } from './model-order.ts'

const vector = (numbers: readonly number[]): Value => ({
  type: 'array',
  meaning: vectorMeaning,
  excludeFromIndexes: true,
  values: numbers.map((value): Value => ({ type: 'double', value })),
})

// Small whole numbers meet often in equal distances, and all sums of them are exact.
const numbers = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 4 })
const stored = fc.record({
  v: fc.option(numbers, { nil: undefined, freq: 8 }),
  isVector: fc.boolean(),
  p: fc.integer({ min: 0, max: 2 }),
})
const measures: fc.Arbitrary<DistanceMeasure> = fc.constantFrom('euclidean', 'cosine', 'dotProduct')

interface Case {
  readonly rows: readonly (typeof stored extends fc.Arbitrary<infer T> ? T : never)[]
  readonly vector: readonly number[]
  readonly measure: DistanceMeasure
  readonly limit: number
  readonly threshold: number | undefined
  readonly p: number | undefined
  readonly offset: number
  readonly baseLimit: number | undefined
}

const cases: fc.Arbitrary<Case> = fc.record({
  rows: fc.array(stored, { maxLength: 40 }),
  vector: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2, maxLength: 2 }),
  measure: measures,
  limit: fc.integer({ min: 1, max: 12 }),
  threshold: fc.option(fc.integer({ min: -4, max: 4 }), { nil: undefined }),
  p: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  offset: fc.constantFrom(0, 0, 3),
  baseLimit: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
})

function entitiesOf({ rows }: Case): ModelEntity[] {
  return rows.map(({ v, isVector, p }, i) => {
    const plain = v === undefined ? undefined : vector(v)
    const value: Value | undefined =
      isVector || plain?.type !== 'array' ? plain : { type: 'array', values: plain.values }
    return entity(`A:${i + 1}`, { p: BigInt(p), ...(value === undefined ? {} : { v: value }) })
  })
}

function distanceOf(measure: DistanceMeasure, a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, each, i) => sum + each * (y[i] ?? 0), 0)
  if (measure === 'dotProduct') return dot(a, b)
  if (measure === 'cosine') return 1 - dot(a, b) / (Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b)))
  return Math.sqrt(a.reduce((sum, each, i) => sum + (each - (b[i] ?? 0)) ** 2, 0))
}

function bruteForce(asked: Case): { key: string; distance: number }[] {
  const entities = entitiesOf(asked)
  const { offset, baseLimit = Number.POSITIVE_INFINITY, threshold, measure } = asked
  const sign = measure === 'dotProduct' ? -1 : 1
  return asked.rows
    .map((row, i) => ({ ...row, key: (entities[i] as ModelEntity).key }))
    .filter(({ p }) => asked.p === undefined || p === asked.p)
    .slice(offset, offset + baseLimit)
    .filter(({ v, isVector }) => v?.length === asked.vector.length && isVector)
    .map(({ v, key }) => ({ key, distance: distanceOf(measure, asked.vector, v ?? []) }))
    .filter(({ distance }) => !Number.isNaN(distance))
    .filter(({ distance }) => threshold === undefined || distance * sign <= threshold * sign)
    .sort((a, b) => (a.distance - b.distance) * sign || compareKeys(a.key, b.key))
    .slice(0, asked.limit)
    .map(({ key, distance }) => ({ key: formatKey(key), distance }))
}

function queryOf({ vector: numbers, measure, limit, threshold, p, offset, baseLimit }: Case): Query {
  return query({
    kind: 'A',
    offset,
    ...(p === undefined ? {} : { filter: where('p', '=', BigInt(p)) }),
    ...(baseLimit === undefined ? {} : { limit: baseLimit }),
    nearest: { property: 'v', vector: vector(numbers), measure, limit, threshold, distanceProperty: 'd' },
  })
}

function found(page: ResultPage): { key: string; distance: number }[] {
  return page.results.map(({ key, image }) => {
    const distance = decodeProperties(image?.properties ?? new Uint8Array(), queryDatabase).get('d')
    invariant(distance?.type === 'double', 'a result has its distance')
    return { key: formatKey(key), distance: distance.value }
  })
}

test.each(['at once', 'by promise'])(
  'the nearest are those that sorting all candidates begins with: %s',
  async (how) => {
    await fc.assert(
      fc.asyncProperty(cases, async (asked) => {
        const store = storeOf(entitiesOf(asked))
        const searched = queryOf(asked)
        const nearest = planNearest(searched, searched.nearest as NearestQuery, undefined)
        const planned = plan(normalize(nearest.base, queryDatabase), [])
        const view = new KvTableView(how === 'at once' ? store : new AsyncKv(store))
        const context = requestContext({ clock: systemScheduler })
        const page = findNearest({ context, view, plan: planned }, windowOf(nearest.base, planned), nearest)
        if (how === 'at once') expect(page).not.toBeInstanceOf(Promise)
        expect(found(await page)).toEqual(bruteForce(asked))
      }),
      { numRuns: runs(how === 'at once' ? 150 : 50) },
    )
  },
)
