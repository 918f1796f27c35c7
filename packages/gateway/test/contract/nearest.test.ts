/** Search by vector over each protocol: vectors go in as clients write them, and the nearest come out in order. */
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, type Wire, wireNames } from '../support/wires.ts'
import { array, commit, entity, integer, named } from './errors/row.ts'

let engine: Engine
let gateway: Gateway

beforeAll(async () => {
  engine = await openEngine()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
})

/** As clients of Google write them: excluded from indexes. */
const vector = (...numbers: number[]): Plain => ({
  ...array(...numbers.map((doubleValue) => ({ doubleValue }))),
  meaning: 31,
  excludeFromIndexes: true,
})
const search = (more: Plain = {}): Plain => ({
  vectorProperty: { name: 'v' },
  queryVector: vector(1, 0),
  distanceMeasure: 'EUCLIDEAN',
  limit: { value: 2 },
  distanceResultProperty: 'distance',
  ...more,
})
const ofKind = (findNearest: Plain): Plain => ({ query: { kind: [{ name: 'K' }], findNearest } })

interface Batch {
  readonly entityResults: readonly {
    readonly entity: {
      readonly key: { readonly path: readonly { readonly name: string }[] }
      readonly properties: Readonly<Record<string, { readonly doubleValue?: number; readonly meaning?: number }>>
    }
  }[]
  readonly moreResults: string
}

describe.each(wireNames)('over %s', (name) => {
  let wire: Wire

  beforeAll(async () => {
    wire = await openWire(name, { host: '127.0.0.1', port: gateway.port })
    const vectors = [vector(4, 4), vector(1, 0.5), vector(1, 0), vector(1, 0, 0), integer()]
    const rows = vectors.map((v, i) => ({ upsert: entity(named(`e${i}`), { v }) }))
    expect(await wire.send('p', 'Commit', commit(...rows))).toMatchObject({ code: 'OK', message: '' })
  })

  afterAll(() => wire.close())

  async function found(findNearest: Plain): Promise<[string | undefined, number | undefined][]> {
    const sent = await wire.send('p', 'RunQuery', ofKind(findNearest))
    expect(sent).toMatchObject({ code: 'OK', message: '' })
    const { batch } = readAnswer(wire, 'RunQuery', sent) as unknown as { batch: Batch }
    expect(batch.moreResults).toBe('NO_MORE_RESULTS')
    return batch.entityResults.map((result) => {
      const { key, properties } = result.entity
      expect(properties['v']).toMatchObject({ meaning: 31, excludeFromIndexes: true })
      return [key.path[0]?.name, properties['distance']?.doubleValue]
    })
  }

  test('the nearest come in order, with their distances', async () => {
    expect(await found(search())).toEqual([
      ['e2', 0],
      ['e1', 0.5],
    ])
    expect(await found(search({ distanceMeasure: 'DOT_PRODUCT' }))).toEqual([
      ['e0', 4],
      ['e1', 1],
    ])
    expect(await found(search({ distanceThreshold: { value: 0.25 } }))).toEqual([['e2', 0]])
  })

  test('aggregations are over the nearest, not over what was searched', async () => {
    const nestedQuery = (ofKind(search()) as { query: Plain }).query
    const aggregations = [
      { count: {}, alias: 'all' },
      { count: { upTo: { value: 1 } }, alias: 'some' },
    ]
    const sent = await wire.send('p', 'RunAggregationQuery', { aggregationQuery: { nestedQuery, aggregations } })
    expect(sent).toMatchObject({ code: 'OK', message: '' })
    const { batch } = readAnswer(wire, 'RunAggregationQuery', sent)
    expect(batch).toMatchObject({
      aggregationResults: [{ aggregateProperties: { all: { integerValue: '2' }, some: { integerValue: '1' } } }],
    })
  })

  test.each<[string, Plain, RegExp]>([
    ['an array that is no vector', { queryVector: array({ doubleValue: 1 }) }, /not a vector/],
    ['no query vector', { queryVector: undefined }, /query vector/],
    ['no measure', { distanceMeasure: 'DISTANCE_MEASURE_UNSPECIFIED' }, /measure/],
    ['no limit', { limit: undefined }, /limit/],
    ['a limit out of range', { limit: { value: 101 } }, /101.*100/],
    ['no property', { vectorProperty: undefined }, /vector_property/],
  ])('it is refused: %s', async (_what, more, message) => {
    const { code, message: text } = await wire.send('p', 'RunQuery', ofKind(search(more)))
    expect({ code, text }).toEqual({ code: 'INVALID_ARGUMENT', text: expect.stringMatching(message) })
  })

  test('a vector that is not excluded from indexes cannot be stored', async () => {
    const v = { ...vector(1), excludeFromIndexes: false }
    const { code, message } = await wire.send('p', 'Commit', commit({ upsert: entity(named('indexed'), { v }) }))
    expect(code).toBe('INVALID_ARGUMENT')
    expect(message).toMatch(/excluded from indexes/)
  })

  test('a vector of more than 2,048 dimensions cannot be stored', async () => {
    const long = vector(...new Array<number>(2049).fill(1))
    const { code, message } = await wire.send('p', 'Commit', commit({ upsert: entity(named('long'), { v: long }) }))
    expect(code).toBe('INVALID_ARGUMENT')
    expect(message).toMatch(/2049/)
  })
})
