/**
 * Which declared indexes serve a projection: what is projected or distinct and not ordered may stand in an index in any order
 * and direction, and results come in the order of the index.
 *
 * Measured on Google's Datastore emulator with required indexes: which of these are served. There results of all come in the
 * order of names; production reads them from the index.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/engine-options.ts'
import { indexYaml } from '../indexes/index-yaml.ts'
import { formatIndex } from '../model/index-definition.ts'
import { formatKey } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { and, index, key, type QueryWords, query, where } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Mutation } from './api.ts'

let engine: Engine

afterEach(() => engine.close())

/** x, y and z of A:1, A:2, … below R:1; e is 1 everywhere. */
const world: readonly (readonly [number, number, number])[] = [
  [2, 1, 1],
  [1, 2, 1],
  [1, 1, 2],
  [2, 2, 2],
  [1, 1, 1],
]

async function use(options: EngineOptions, ...indexes: readonly string[]): Promise<void> {
  engine = await openEngine({ scheduler: new VirtualClock(), ...options })
  const mutations = world.map(([x, y, z], i): Mutation => {
    const keyBytes = encodeKey(key(`R:1/A:${i + 1}`))
    const values = Object.entries({ x, y, z, e: 1, f: 1 })
    const properties = values.map(([name, value]): [string, Value] => [name, { type: 'integer', value: BigInt(value) }])
    const head = Buffer.from([0x0a, keyBytes.length])
    return { operation: 'insert', entity: Buffer.concat([head, keyBytes, encodeProperties(new Map(properties))]) }
  })
  const database = engine.database('p')
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  for (const words of indexes) await engine.createIndex(database, index(words))
}

/** The ids of the results, in order. */
async function run(words: QueryWords): Promise<string> {
  const { results } = await engine.database('p').runQuery(engine.context(), { query: query({ kind: 'A', ...words }) })
  return results.map((result) => formatKey(result.key).replace('R:1/A:', '')).join(' ')
}

const defined = () => engine.database('p').catalogue.all.map(formatIndex)

const below = where('__key__', 'under', key('R:1'))
const both = and(where('e', '=', 1n), where('f', '=', 1n))
const distinct = { projection: ['y', 'z'], distinctOn: ['y', 'z'] }

type Row = readonly [indexes: readonly string[], words: QueryWords, expected: string]

/** With a title, which names the properties as the query has them. */
const titled = (rows: readonly Row[]) =>
  rows.map(([indexes, words, expected]) => {
    const { filter, projection = [], distinctOn = [], order = [] } = words
    const named =
      JSON.stringify(filter, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
        ?.match(/"property":"\w+"/g)
        ?.map((one) => one.slice(12, -1)) ?? []
    const parts = [`filter ${named}`, `project ${projection}`, `distinct ${distinctOn}`, `order ${order}`]
    const title = `${indexes.join(' and ')}: ${parts.filter((part) => !part.endsWith(' ')).join(', ')}`
    return [title, indexes, words, expected] as const
  })

const served: readonly Row[] = [
  [['A(ancestor, z, y)'], { filter: below, projection: ['y', 'z'] }, '1 5 2 3 4'],
  [['A(ancestor, z desc)'], { filter: below, projection: ['z'] }, '3 4 1 2 5'],
  [['A(x, z, y)'], { filter: where('x', '>', 0n), projection: ['x', 'y', 'z'] }, '5 2 3 1 4'],
  [['A(x, z, y)'], { filter: where('x', '>', 0n), projection: ['x', 'y', 'z'], order: ['x'] }, '5 2 3 1 4'],
  [['A(x desc, z, y)'], { projection: ['x', 'y', 'z'], order: ['x desc'] }, '1 4 5 2 3'],
  [['A(z, y, x)'], { projection: ['x', 'y', 'z'], order: ['z'] }, '5 1 2 3 4'],
  [['A(e, z, y)'], { filter: where('e', '=', 1n), projection: ['y', 'z'] }, '1 5 2 3 4'],
  [['A(e desc, z desc)'], { filter: where('e', '=', 1n), projection: ['z'] }, '3 4 1 2 5'],
  [['A(f, e, z, y)'], { filter: both, projection: ['y', 'z'] }, '1 5 2 3 4'],
  [['A(e, z, y)', 'A(f, z, y)'], { filter: both, projection: ['y', 'z'] }, '1 5 2 3 4'],
  [['A(z desc, y)'], { projection: ['y', 'z'] }, '3 4 1 5 2'],
  [['A(y, z desc)'], { projection: ['y', 'z'] }, '3 1 5 4 2'],
  [['A(z, y, __key__ desc)'], { projection: ['y', 'z'] }, '4 3 2 1 5'],
  [['A(z desc, y)'], distinct, '3 4 1 2'],
  [['A(x, z, y)'], { ...distinct, filter: where('x', '=', 1n) }, '5 2 3'],
  [['A(y desc, z)'], { projection: ['y', 'z'], distinctOn: ['y'] }, '2 1'],
]

const refused: readonly Row[] = [
  // Distinct properties come first, then inequalities, then what is projected; what is ordered stands as it is ordered.
  [['A(z, y)'], { projection: ['y', 'z'], distinctOn: ['y'] }, 'A(y, z)'],
  [['A(y, x)'], { filter: where('x', '>', 0n), projection: ['x', 'y'] }, 'A(x, y)'],
  [['A(z desc, y, x)'], { projection: ['x', 'y', 'z'], order: ['z'] }, 'A(z, x, y)'],
  [['A(e, z, y)', 'A(f, y, z)'], { filter: both, projection: ['y', 'z'] }, 'A(e, f, y, z)'],
  [['A(x, y, z)'], { projection: ['y', 'z'] }, 'A(y, z)'],
]

describe('with indexes: require', () => {
  test.each(titled(served))('served by %s', async (_title, indexes, words, expected) => {
    await use({ indexes: 'require' }, ...indexes)
    expect(await run(words)).toBe(expected)
  })

  test.each(titled(refused))('not served by %s', async (_title, indexes, words, missing) => {
    await use({ indexes: 'require' }, ...indexes)
    await expect(run(words)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION', details: { index: missing } })
  })

  test('sums and averages use such an index, too', async () => {
    await use({ indexes: 'require' }, 'A(e, z desc, y)')
    const { values } = await engine.database('p').runAggregationQuery(engine.context(), {
      query: query({ kind: 'A', filter: where('e', '=', 1n) }),
      aggregations: [
        { operator: 'sum', property: 'y' },
        { operator: 'avg', property: 'z' },
      ],
    })
    expect([...values.values()]).toEqual([
      { type: 'integer', value: 7n },
      { type: 'double', value: 1.4 },
    ])
  })
})

describe('with indexes: auto', () => {
  test.each(titled(served))('nothing is built beside %s', async (_title, indexes, words, expected) => {
    await use({}, ...indexes)
    const before = defined()
    expect(await run(words)).toBe(expected)
    expect(defined()).toEqual(before)
  })

  test('the order of names is read where an index has it', async () => {
    await use({}, 'A(z desc, y)', 'A(y, z)')
    expect(await run({ projection: ['y', 'z'] })).toBe('1 5 3 2 4')
  })

  test('a cursor goes on in the order of its page, although an index in the order of names came meanwhile', async () => {
    await use({}, 'A(z desc, y)')
    const asked = query({ kind: 'A', projection: ['y', 'z'], limit: 2 })
    const database = engine.database('p')
    const { endCursor } = await database.runQuery(engine.context(), { query: asked })
    expect(await run({ order: ['y', 'z'], projection: ['y', 'z'] })).toBe('1 5 3 2 4')
    expect(defined()).toHaveLength(2)
    expect(await run({ projection: ['y', 'z'], startCursor: endCursor })).toBe('1 5 2')
  })
})

test('an entry of index.yaml that is not built yet is waited for, and serves', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sixtables-projections-'))
  try {
    const path = join(folder, 'index.yaml')
    await writeFile(path, `indexes:\n${indexYaml(index('A(ancestor, z, y)'))}`)
    await use({ indexes: 'require', indexFile: path })
    expect(await run({ filter: below, projection: ['y', 'z'] })).toBe('1 5 2 3 4')
    expect(defined()).toEqual(['A(ancestor, z, y)'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
