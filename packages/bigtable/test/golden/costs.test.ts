/**
 * docs/bigtable.md lists calls and row operations of each verb; GOLDEN=rewrite writes them anew. They are the same with one, two and three
 * gateways, and with few entities and many. `npm run bigtable:costs` makes them 100,000.
 *
 * Time stands all but still here, so that no background work of the gateways is among the calls that are counted.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  type Database,
  type Engine,
  encodeKey,
  encodeProperties,
  type Filter,
  type Key,
  openEngine,
  type Scheduler,
  type Value,
} from '@sixtables/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import type { RowStore } from '../../src/row-store/row-store.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { openPatiently } from '../support/fake-client.ts'

const page = new URL('../../../../docs/bigtable.md', import.meta.url)
const many = Number(process.env['SIXTABLES_ENTITIES'] ?? 300)

let fake: FakeBigtable
beforeAll(async () => {
  fake = await FakeBigtable.start()
  fake.nowMicros = () => startMicros
})
afterAll(() => fake.close())

const startMicros = 1_800_000_000_000_000n

/** All that gateways have begun and not ended: calls to rows, tasks that they put off, and sleeps that will end. */
let underWay = 0

async function counted<T>(work: Promise<T>): Promise<T> {
  underWay++
  return await work.finally(() => {
    underWay--
  })
}

function countedRows(rows: RowStore): RowStore {
  return {
    location: rows.location,
    readRows: (...asked) => counted(rows.readRows(...asked)),
    scanRows: (...asked) => counted(rows.scanRows(...asked)),
    mutateRows: (...asked) => counted(rows.mutateRows(...asked)),
    mutateRowIf: (...asked) => counted(rows.mutateRowIf(...asked)),
    close: () => rows.close(),
  }
}

/**
 * 100 microseconds pass with each look at the clock, so that it is ahead of the stamps of a batch, as real ones are. Sleeps of a second and
 * more do not end. `pass` makes more time pass at once.
 */
function nearlyStill(): Scheduler & { pass(micros: bigint): void } {
  let now = startMicros
  return {
    pass: (micros) => {
      now += micros
    },
    nowMicros: () => {
      now += 100n
      return now
    },
    steadyMs: () => 0,
    defer: (task) => void counted(new Promise<void>((resolve) => setImmediate(resolve)).then(task)),
    sleep: (ms, signal) => {
      const sleep = new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        if (ms < 1000) setTimeout(resolve, ms)
      })
      return ms < 1000 ? counted(sleep) : sleep
    },
  }
}

const partition = { projectId: 'costs', databaseId: '', namespaceId: '' }
const keyOf = (kind: string, id: number): Key => ({ partition, path: [{ kind, id: BigInt(id) }] })

/** Of entities with consecutive numbers `c` and `d` differ. */
function entityOf(key: Key, n: number): Uint8Array {
  const bytes = encodeKey(key)
  const integer = (value: number) => ({ type: 'integer', value: BigInt(value) }) as const
  const properties = encodeProperties(
    new Map<string, Value>([
      ['a', integer(7)],
      ['b', integer(1)],
      ['c', integer(n)],
      ['d', { type: 'string', value: `text ${n}` } as const],
      ['e', { type: 'boolean', value: true } as const],
    ]),
  )
  return Buffer.concat([Uint8Array.from([0x0a, bytes.length]), bytes, properties])
}

interface Measured {
  readonly engine: Engine
  readonly database: Database
  /** A number that no other measurement has. */
  readonly n: number
}

const write = { mode: 'nonTransactional' } as const
const singleUse = { mode: 'transactional', singleUse: { mode: 'readWrite' } } as const
const upsert = (key: Key, n: number) => ({ operation: 'upsert', entity: entityOf(key, n) }) as const
const equal = (property: string, value: number): Filter => ({
  type: 'property',
  property,
  operator: 'equal',
  value: { type: 'integer', value: BigInt(value) },
})

function query(
  { engine, database }: Measured,
  filter: Filter | undefined,
  consistency: 'strong' | 'eventual',
): unknown {
  const query = { partition, kind: 'Task', projection: [], filter, order: [], distinctOn: [], offset: 0, limit: 20 }
  return database.runQuery(engine.context(), { query, read: { consistency } })
}

const lookup = ({ engine, database }: Measured): unknown =>
  database.lookup(engine.context(), { keys: [keyOf('Task', 1)] })

/** Each on entities of its own where it writes, and after so many microseconds without any call. */
const verbs: readonly (readonly [name: string, verb: (at: Measured) => unknown, pause?: bigint])[] = [
  ['lookup of an entity', lookup],
  [
    'lookup of 20 entities in 20 groups',
    ({ engine, database }) =>
      database.lookup(engine.context(), { keys: Array.from({ length: 20 }, (_, i) => keyOf('Task', i + 1)) }),
  ],
  [
    'put of a new entity with 5 indexed properties',
    ({ engine, database, n }) =>
      database.commit(engine.context(), { ...write, mutations: [upsert(keyOf('Put', n), n)] }),
  ],
  [
    'put of the same again, with 2 properties changed',
    ({ engine, database, n }) =>
      database.commit(engine.context(), { ...write, mutations: [upsert(keyOf('Again', 1), n)] }),
  ],
  [
    'deletion of an entity',
    ({ engine, database, n }) =>
      database.commit(engine.context(), { ...write, mutations: [{ operation: 'delete', key: keyOf('Gone', n) }] }),
  ],
  [
    'put of two entities in two groups, in one transaction',
    ({ engine, database, n }) =>
      database.commit(engine.context(), {
        ...singleUse,
        mutations: [upsert(keyOf('Two', 2 * n), n), upsert(keyOf('Two', 2 * n + 1), n)],
      }),
  ],
  [
    'transaction: begin, lookup and put of one entity',
    async (at) => transaction(at, keyOf('Counter', 1), keyOf('Counter', 1)),
  ],
  [
    'transaction: begin, lookup of one entity, put of another',
    async (at) => transaction(at, keyOf('Counter', 2), keyOf('Counter', 3)),
  ],
  ['query of a kind, 20 results', (at) => query(at, undefined, 'strong')],
  ['query by an equality, 20 results', (at) => query(at, equal('b', 1), 'strong')],
  ['the same, eventually consistent', (at) => query(at, equal('b', 1), 'eventual')],
  ['lookup of an entity, after a quiet second', lookup, 2_000_000n],
]

/** Measured apart: its calls depend on who took an id last. */
const automaticId = 'put of a new entity with an automatic id'

function putWithAutomaticId({ engine, database, n }: Measured): unknown {
  const key: Key = { partition, path: [{ kind: 'Auto' }] }
  return database.commit(engine.context(), { ...write, mutations: [upsert(key, n)] })
}

async function transaction({ engine, database, n }: Measured, read: Key, written: Key): Promise<void> {
  const id = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
  await database.lookup(engine.context(), { keys: [read], read: { transaction: id } })
  await database.commit(engine.context(), { mode: 'transactional', transaction: id, mutations: [upsert(written, n)] })
}

interface Cost {
  readonly calls: number
  readonly rows: number
}

function costsNow(): Cost {
  const { ReadRows, MutateRows, CheckAndMutateRow } = fake.counts
  const counts = [ReadRows, MutateRows, CheckAndMutateRow]
  return {
    calls: counts.reduce((sum, { calls }) => sum + calls, 0),
    rows: counts.reduce((sum, { rows }) => sum + rows, 0),
  }
}

/** When no gateway has anything to do any more, whatever the time that takes. */
async function quiet(): Promise<void> {
  for (let calm = 0; calm < 20; calm = underWay === 0 ? calm + 1 : 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Lines of the table: the same verb at each gateway in turn, once to warm up, and once to be counted. */
async function measure(gateways: number, entities: number): Promise<Costs> {
  const table = `costs${gateways}`
  const scheduler = nearlyStill()
  const engines = await Promise.all(
    Array.from({ length: gateways }, async (_, index) => {
      const rows = countedRows(await openPatiently(fake.address, table, scheduler))
      return await openEngine({ store: severalGateways({ rows, gateway: index + 1 }), scheduler })
    }),
  )
  const databases = engines.map((engine) => engine.database('costs'))
  const at = (index: number, n: number): Measured => ({
    engine: engines[index % gateways] as Engine,
    database: databases[index % gateways] as Database,
    n,
  })
  for (let from = 1; from <= entities; from += 100) {
    const { engine, database } = at(0, 0)
    const ids = Array.from({ length: Math.min(100, entities - from + 1) }, (_, i) => from + i)
    await database.commit(engine.context(), { ...write, mutations: ids.map((id) => upsert(keyOf('Task', id), id)) })
  }
  const gone = Array.from({ length: 30 }, (_, i) => upsert(keyOf('Gone', i + 1), i))
  await databases[0]?.commit((engines[0] as Engine).context(), { ...write, mutations: gone })
  let n = 0
  const line = async (name: string, verb: (at: Measured) => unknown, gateway: number, pause = 0n): Promise<string> => {
    for (let other = 0; other < gateways; other++) {
      await verb(at(other, ++n))
      await quiet()
    }
    scheduler.pass(pause)
    const before = costsNow()
    await verb(at(gateway, ++n))
    const answered = costsNow()
    await quiet()
    const after = costsNow()
    const cells = [
      answered.calls - before.calls,
      answered.rows - before.rows,
      after.calls - before.calls,
      after.rows - before.rows,
    ]
    return `| ${name} | ${cells.join(' | ')} |`
  }
  const lines: string[] = []
  for (const [index, [name, verb, pause]] of verbs.entries()) lines.push(await line(name, verb, index, pause))
  // The last gateway took the id before it.
  const withId = await line(
    gateways === 1 ? automaticId : `${automaticId}, after another gateway took one`,
    putWithAutomaticId,
    0,
  )
  await Promise.all(engines.map((engine) => engine.close()))
  return { lines, withId }
}

interface Costs {
  readonly lines: readonly string[]
  readonly withId: string
}

test('golden: a verb costs the same calls and row operations with 1, 2 and 3 gateways, few entities and many', async () => {
  const one = await measure(1, 100)
  const two = await measure(2, 100)
  expect(two.lines).toEqual(one.lines)
  expect(await measure(3, many)).toEqual(two)
  const text = readFileSync(page, 'utf8')
  const head = [
    '| verb | calls to the answer | rows to the answer | calls in all | rows in all |',
    '| --- | --- | --- | --- | --- |',
  ]
  const wanted = text.replace(
    /(<!-- from the code: costs -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) =>
      `${begin}\n${[...head, ...one.lines, one.withId, two.withId].join('\n')}\n\n${end}`,
  )
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  else expect(text).toBe(wanted)
})
