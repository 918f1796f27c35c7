import { beforeEach, describe, expect, test } from 'vitest'
import { CountingLedger } from '../context.ts'
import { decodeProperties, encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { prettyPath } from '../encoding/pretty.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { PathElement } from '../model/key.ts'
import type { Filter } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

let engine: Engine

async function put(
  path: readonly PathElement[],
  values: Readonly<Record<string, Value>>,
  namespaceId = '',
): Promise<void> {
  const key = encodeKey({ partition: { projectId: 'p', databaseId: '', namespaceId }, path })
  const entity = Buffer.concat([
    Buffer.from([0x0a, key.length]),
    key,
    encodeProperties(new Map(Object.entries(values))),
  ])
  const mutations = [{ operation: 'upsert' as const, entity }]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

/** Statistic entities of a kind by key: the figures asked for, in order. */
async function figures(
  kind: string,
  names: readonly string[],
  namespaceId = '',
  filter?: Filter,
): Promise<Record<string, string>> {
  const partition = { projectId: 'p', databaseId: '', namespaceId }
  const query = { partition, kind, projection: [], order: [], distinctOn: [], offset: 0, filter }
  const { results } = await engine.database('p').runQuery(engine.context(), { query })
  const found = results.map(({ key, image }): [string, string] => {
    const properties = decodeProperties(image?.properties ?? new Uint8Array())
    const shown = names.map((name) => {
      const value = properties.get(name)
      return value?.type === 'integer' || value?.type === 'string' ? String(value.value) : '-'
    })
    return [prettyPath(key.path).replace(`${kind}:`, ''), shown.join(' ')]
  })
  return Object.fromEntries(found)
}

describe('statistics kinds', () => {
  beforeEach(async () => {
    engine = await openEngine({ scheduler: new VirtualClock() })
    await put([{ kind: 'ToDo', id: 1n }], {
      owner: { type: 'string', value: 'ada' },
      tags: {
        type: 'array',
        values: [
          { type: 'integer', value: 1n },
          { type: 'integer', value: 2n },
        ],
      },
    })
    await put(
      [
        { kind: 'ToDo', id: 2n },
        { kind: 'Note', id: 1n },
      ],
      { text: { type: 'string', value: 'x', excludeFromIndexes: true } },
    )
    await put([{ kind: 'ToDo', id: 3n }], {}, 'n1')
  })

  test('count entities and index rows, in all and by kind', async () => {
    expect(await figures('__Stat_Total__', ['count', 'builtin_index_count', 'composite_index_count'])).toEqual({
      '"total_entity_usage"': '3 9 0',
    })
    expect(await figures('__Stat_Kind__', ['kind_name', 'count', 'builtin_index_count'])).toEqual({
      '"Note"': 'Note 1 1',
      '"ToDo"': 'ToDo 2 8',
    })
    expect(await figures('__Stat_Kind_IsRootEntity__', ['count'])).toEqual({ '"ToDo"': '2' })
    expect(await figures('__Stat_Kind_NotRootEntity__', ['count'])).toEqual({ '"Note"': '1' })
  })

  test('tell namespaces apart', async () => {
    expect(await figures('__Stat_Namespace__', ['subject_namespace', 'count'])).toEqual({ '1': ' 2', '"n1"': 'n1 1' })
    expect(await figures('__Stat_Ns_Total__', ['count'], 'n1')).toEqual({ '"total_entity_usage"': '1' })
    expect(await figures('__Stat_Ns_Kind__', ['count'], 'n1')).toEqual({ '"ToDo"': '1' })
  })

  test('are of the whole database alone where there are no namespaces', async () => {
    await engine.reset({ projectId: 'p', databaseId: '', namespaceId: 'n1' })
    expect(await figures('__Stat_Ns_Total__', ['count'])).toEqual({})
    expect(await figures('__Stat_Ns_Kind__', ['count'])).toEqual({})
    expect(await figures('__Stat_Total__', ['count'])).toEqual({ '"total_entity_usage"': '2' })
    expect(await figures('__Stat_Namespace__', ['count'])).toEqual({ '1': '2' })
  })

  test('count values by type, and their index rows by class', async () => {
    expect(await figures('__Stat_PropertyType__', ['count', 'builtin_index_count'])).toEqual({
      '"INT64"': '0 4',
      '"Integer"': '2 0',
      '"STRING"': '0 2',
      '"String"': '2 0',
    })
  })

  test('count the rows of composite indexes', async () => {
    const properties = [
      { name: 'owner', direction: 'ascending' as const },
      { name: 'tags', direction: 'ascending' as const },
    ]
    await engine.createIndex(engine.database('p'), { kind: 'ToDo', ancestor: false, properties })
    expect(await figures('__Stat_Kind_CompositeIndex__', ['kind_name', 'index_id', 'count'])).toEqual({
      '"ToDo_1"': 'ToDo 1 2',
    })
    expect(await figures('__Stat_Total__', ['composite_index_count'])).toEqual({ '"total_entity_usage"': '2' })
  })

  test('are put together from one walk until something is written', async () => {
    const rowsRead = async (kind: string): Promise<number> => {
      const ledger = new CountingLedger()
      const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
      const query = { partition, kind, projection: [], order: [], distinctOn: [], offset: 0 }
      await engine.database('p').runQuery({ ...engine.context(), ledger }, { query })
      return ledger.rowsRead
    }
    const walked = await rowsRead('__Stat_Total__')
    // Besides the entities of the database it reads those of the statistics.
    expect(walked - (await rowsRead('__Stat_Total__'))).toBe(3)
    expect(await rowsRead('__property__')).toBe(await rowsRead('__property__'))

    await put([{ kind: 'Late', id: 1n }], {})
    expect(await figures('__Stat_Total__', ['count'])).toEqual({ '"total_entity_usage"': '4' })
    await engine.reset({ projectId: 'p', databaseId: '', namespaceId: 'n1' })
    expect(await figures('__Stat_Total__', ['count'])).toEqual({ '"total_entity_usage"': '3' })
    const properties = [{ name: 'owner', direction: 'ascending' as const }]
    await engine.createIndex(engine.database('p'), { kind: 'ToDo', ancestor: true, properties })
    expect((await rowsRead('__Stat_Total__')) - (await rowsRead('__Stat_Total__'))).toBe(3)
  })

  test('and the metadata kinds are made in many turns, also those of one entity', async () => {
    let turns = 0
    const clock = new VirtualClock()
    const defer = (task: () => void): void => {
      turns++
      clock.defer(task)
    }
    const { nowMicros, steadyMs, sleep } = clock
    engine = await openEngine({
      scheduler: { nowMicros: nowMicros.bind(clock), steadyMs: steadyMs.bind(clock), sleep: sleep.bind(clock), defer },
    })
    const value: Value = { type: 'integer', value: 1n }
    await put([{ kind: 'Wide', id: 1n }], Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, value])))
    for (const kind of ['__Stat_PropertyName_Kind__', '__property__']) {
      await figures('__Stat_Total__', [])
      turns = 0
      await figures(kind, [])
      expect(turns).toBeGreaterThan(15)
    }
  })

  test('are filtered like any kind', async () => {
    const filter: Filter = {
      type: 'property',
      property: 'kind_name',
      operator: 'equal',
      value: { type: 'string', value: 'Note' },
    }
    expect(await figures('__Stat_Kind__', ['count'], '', filter)).toEqual({ '"Note"': '1' })
  })

  test('add up: kinds to the total of their namespace, namespaces to that of the database', async () => {
    const sum = (found: Record<string, string>): bigint =>
      Object.values(found).reduce((all, one) => all + BigInt(one), 0n)
    const total = sum(await figures('__Stat_Total__', ['bytes']))
    expect(total).toBeGreaterThan(0n)
    expect(sum(await figures('__Stat_Kind__', ['bytes']))).toBe(total)
    expect(sum(await figures('__Stat_Namespace__', ['bytes']))).toBe(total)
    const kinds = sum(await figures('__Stat_Ns_Kind__', ['bytes'], 'n1'))
    expect(sum(await figures('__Stat_Ns_Total__', ['bytes'], 'n1'))).toBe(kinds)
  })

  test('are the same ones until it is time to take them anew, where the engine takes them every so often', async () => {
    const clock = new VirtualClock()
    engine = await openEngine({ scheduler: clock, statisticsEveryMs: 60_000 })
    const total = () => figures('__Stat_Total__', ['count'])
    await put([{ kind: 'ToDo', id: 1n }], {})
    expect(await total()).toEqual({ '"total_entity_usage"': '1' })
    await put([{ kind: 'ToDo', id: 2n }], {})
    await clock.advance(59_000)
    expect(await total()).toEqual({ '"total_entity_usage"': '1' })
    await clock.advance(2_000)
    expect(await total()).toEqual({ '"total_entity_usage"': '2' })
    await engine.reset({ projectId: 'p' })
    await put([{ kind: 'ToDo', id: 3n }], {})
    expect(await total()).toEqual({ '"total_entity_usage"': '1' })
  })
})
