import { describe, expect, test } from 'vitest'
import { requestContext } from '../context.ts'
import { decodeProperties } from '../encoding/entity-codec.ts'
import { parsePropertyMask } from '../encoding/property-mask.ts'
import { formatKey } from '../model/key.ts'
import type { NearestQuery } from '../model/query.ts'
import { type Value, vectorMeaning } from '../model/value.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import type { MemoryKv } from '../storage/memory-kv.ts'
import { entityRowKeyOf } from '../tables/entities.ts'
import { KvTableView } from '../tables/table.ts'
import { atOnce } from '../testing/at-once.ts'
import { entity, type QueryWords, query, queryDatabase, storeOf, where } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { findNearest } from './nearest.ts'
import { planNearest } from './nearest-query.ts'
import type { ResultPage } from './result-page.ts'
import { windowOf } from './window.ts'

const vector = (...numbers: number[]): Value => ({
  type: 'array',
  meaning: vectorMeaning,
  excludeFromIndexes: true,
  values: numbers.map((value): Value => ({ type: 'double', value })),
})
const toOrigin: NearestQuery = { property: 'v', vector: vector(0, 0), measure: 'euclidean', limit: 10 }

interface Options {
  readonly nearest?: Partial<NearestQuery>
  readonly mask?: readonly string[]
  readonly signal?: AbortSignal
}

function search(store: MemoryKv, words: QueryWords, { nearest = {}, mask, signal }: Options = {}) {
  const asked = query({ kind: 'A', ...words, nearest: { ...toOrigin, ...nearest } })
  const search = planNearest(asked, { ...toOrigin, ...nearest }, mask && parsePropertyMask(mask))
  const planned = plan(normalize(search.base, queryDatabase), [])
  const context = requestContext({ clock: new VirtualClock(), ...(signal === undefined ? {} : { signal }) })
  return findNearest({ context, view: new KvTableView(store), plan: planned }, windowOf(search.base, planned), search)
}

const keysOf = ({ results }: ResultPage) => results.map(({ key }) => formatKey(key))
const propertiesOf = ({ results }: ResultPage) =>
  results.map(({ image, projected }) =>
    Object.fromEntries(decodeProperties(projected ?? image?.properties ?? new Uint8Array(), queryDatabase)),
  )

const store = storeOf([
  entity('A:1', { v: vector(3, 4), p: 1n }),
  entity('A:2', { v: vector(0, 1), p: 2n }),
  entity('A:3', { v: vector(1, 0), p: 1n }),
  entity('A:4', { p: 1n }),
  entity('B:5', { v: vector(0, 0.5) }),
])

describe('what is found', () => {
  test('the nearest come first, and equal distances by key', () => {
    const page = atOnce(search(store, {}))
    expect(keysOf(page)).toEqual(['A:2', 'A:3', 'A:1'])
    expect(page).toMatchObject({ resultType: 'full', moreResults: 'noMoreResults', skipped: 0 })
  })

  test('filters, order, offset and limit of the query choose the candidates', () => {
    expect(keysOf(atOnce(search(store, { filter: where('p', '=', 1n) })))).toEqual(['A:3', 'A:1'])
    expect(keysOf(atOnce(search(store, { limit: 1 })))).toEqual(['A:1'])
    expect(keysOf(atOnce(search(store, { limit: 0 })))).toEqual([])
    const skipped = atOnce(search(store, { offset: 2 }))
    expect(keysOf(skipped)).toEqual(['A:3'])
    expect(skipped.skipped).toBe(2)
    expect(keysOf(atOnce(search(store, { kind: undefined })))).toEqual(['B:5', 'A:2', 'A:3', 'A:1'])
  })

  test('cursors are places among the candidates', () => {
    const [first] = atOnce(search(store, { limit: 1 })).results
    expect(keysOf(atOnce(search(store, { startCursor: first?.cursor })))).toEqual(['A:2', 'A:3'])
    expect(keysOf(atOnce(search(store, { endCursor: first?.cursor })))).toEqual(['A:1'])
  })

  test('a greater dot product is nearer, and a threshold keeps off what is less', () => {
    const nearest = { measure: 'dotProduct', vector: vector(1, 0) } as const
    expect(keysOf(atOnce(search(store, {}, { nearest })))).toEqual(['A:1', 'A:3', 'A:2'])
    expect(keysOf(atOnce(search(store, {}, { nearest: { ...nearest, threshold: 1 } })))).toEqual(['A:1', 'A:3'])
  })

  test('a vector without length has no cosine', () => {
    const zero = storeOf([entity('A:1', { v: vector(0, 0) }), entity('A:2', { v: vector(2, 0) })])
    expect(keysOf(atOnce(search(zero, {}, { nearest: { measure: 'cosine', vector: vector(1, 1) } })))).toEqual(['A:2'])
    expect(keysOf(atOnce(search(zero, {}, { nearest: { measure: 'cosine' } })))).toEqual([])
  })

  test('a path leads into embedded entities', () => {
    const embedded = (value: Value): Value => ({ type: 'entity', properties: new Map([['v', value]]) })
    const nested = storeOf([
      entity('A:1', { e: embedded(vector(1, 1)) }),
      entity('A:2', { 'e.v': vector(0, 1) }),
      entity('A:3', { e: { ...embedded(vector(0, 0)), excludeFromIndexes: true } }),
    ])
    expect(keysOf(atOnce(search(nested, {}, { nearest: { property: 'e.v' } })))).toEqual(['A:3', 'A:2', 'A:1'])
  })

  test('a row whose entity is gone gives nothing', () => {
    const stale = storeOf([entity('A:1', { v: vector(0, 0) }), entity('A:2', { v: vector(1, 1) })])
    stale.mutate({ key: entityRowKeyOf(entity('A:1').key), value: undefined })
    expect(keysOf(atOnce(search(stale, {})))).toEqual(['A:2'])
  })
})

describe('what is given', () => {
  const nearest = { distanceProperty: 'd', limit: 1 }
  const distance = { d: { type: 'double', value: 1 } }

  test('the distance is a property of each result, in place of one of its name', () => {
    expect(propertiesOf(atOnce(search(store, {}, { nearest })))).toEqual([
      { p: { type: 'integer', value: 2n }, v: vector(0, 1), ...distance },
    ])
    expect(propertiesOf(atOnce(search(store, {}, { nearest: { ...nearest, distanceProperty: 'p' } })))).toEqual([
      { p: distance.d, v: vector(0, 1) },
    ])
  })

  test('a mask cuts the entity, never the distance', () => {
    expect(propertiesOf(atOnce(search(store, {}, { nearest, mask: ['p'] })))).toEqual([
      { p: { type: 'integer', value: 2n }, ...distance },
    ])
  })

  test('keys alone stay keys, and with a distance become a projection', () => {
    const keysOnly = atOnce(search(store, { projection: ['__key__'] }))
    expect(keysOnly.resultType).toBe('keyOnly')
    expect(keysOnly.results[0]).not.toHaveProperty('projected')
    for (const projection of [['__key__'], ['d'], ['__key__', 'd']]) {
      const page = atOnce(search(store, { projection }, { nearest }))
      expect(page.resultType).toBe('projection')
      expect(propertiesOf(page)).toEqual([distance])
    }
  })

  test('a projection has its values from the rows', () => {
    const page = atOnce(search(store, { projection: ['p', 'd'] }, { nearest }))
    expect(propertiesOf(page)).toEqual([{ p: { type: 'integer', value: 2n, meaning: 18 }, ...distance }])
  })
})

describe('many candidates', () => {
  const many = storeOf(Array.from({ length: 3000 }, (_, i) => entity(`A:${i + 1}`, { v: vector(3000 - i, 0) })))

  test('all are looked at, in several turns', async () => {
    const page = search(many, {}, { nearest: { limit: 3 } })
    expect(page).toBeInstanceOf(Promise)
    expect(keysOf(await page)).toEqual(['A:3000', 'A:2999', 'A:2998'])
  })

  test('the search ends with its caller', async () => {
    const caller = new AbortController()
    const page = search(many, {}, { signal: caller.signal })
    caller.abort()
    await expect(page).rejects.toThrow(/cancelled/)
  })
})

test.each<[string, Partial<NearestQuery>, RegExp]>([
  ['an array without meaning', { vector: { ...vector(1, 2), meaning: 0 } }, /not a vector value/],
  ['a value that is no array', { vector: { type: 'double', value: 1, meaning: vectorMeaning } }, /not a vector value/],
  [
    'a vector of integers',
    { vector: { type: 'array', meaning: vectorMeaning, values: [{ type: 'integer', value: 1n }] } },
    /type integer/,
  ],
  ['a vector without dimensions', { vector: vector() }, /0 dimensions/],
  ['2,049 dimensions', { vector: vector(...new Array<number>(2049).fill(1)) }, /2049 dimensions/],
  ['no limit', { limit: undefined }, /no limit/],
  ['the limit 0', { limit: 0 }, /limit is 0/],
  ['the limit 1,001', { limit: 1001 }, /limit is 1001/],
  ['no property', { property: '' }, /vector_property is empty/],
  ['a reserved property', { property: '__key__' }, /reserved/],
  ['a reserved property for the distance', { distanceProperty: '__d__' }, /reserved/],
])('a search is refused for %s', (_what, nearest, message) => {
  expect(() => search(store, {}, { nearest })).toThrow(message)
})
