import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/engine-options.ts'
import type { DatastoreError } from '../errors.ts'
import { withGenerated } from '../indexes/index-yaml.ts'
import { formatIndex } from '../model/index-definition.ts'
import { formatKey, type Key } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import { and, index, key, query, where } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const ordered = query({ kind: 'A', filter: where('parity', '=', 1n), order: ['v desc'] })
const definition = index('A(parity, v desc)')

let clock: VirtualClock
let engine: Engine

async function use(options: EngineOptions = {}): Promise<void> {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, ...options })
}

function keyOf(id: number): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'A', id: BigInt(id) }] }
}

async function put(...values: readonly (readonly [number, number | undefined])[]): Promise<void> {
  const mutations = values.map(([id, value]) => mutationOf(keyOf(id), value))
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function run(asked: Query = ordered, transaction?: Uint8Array): Promise<readonly string[]> {
  const read = transaction === undefined ? {} : { read: { transaction } }
  const { results } = await engine.database('p').runQuery(engine.context(), { query: asked, ...read })
  return results.map((result) => formatKey(result.key))
}

async function failure(work: () => unknown): Promise<DatastoreError> {
  try {
    await work()
  } catch (error) {
    return error as DatastoreError
  }
  throw new Error('it did not fail')
}

const defined = (project = 'p') =>
  engine.database(project).catalogue.all.map((one) => `${formatIndex(one)} ${one.state}`)

describe('with indexes: auto', () => {
  beforeEach(() => use())

  test('the first query that lacks an index waits until it is built', async () => {
    await put([1, 1], [2, 3], [3, 2])
    expect(await run()).toEqual(['A:2', 'A:1'])
    expect(defined()).toEqual(['A(parity, v desc) serving'])
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('equal queries share one build, and later ones are answered at once', async () => {
    await put([1, 1])
    const answers = await Promise.all([
      run(),
      run(),
      run(query({ kind: 'A', filter: where('parity', '=', 1n), order: ['v desc'], limit: 1 })),
    ])
    expect(answers).toEqual([['A:1'], ['A:1'], ['A:1']])
    expect(defined()).toHaveLength(1)
    expect(engine.database('p').runQuery(engine.context(), { query: ordered })).not.toBeInstanceOf(Promise)
  })

  test('a query of several disjuncts gets an index for each that needs one', async () => {
    await put([1, 1], [2, 2])
    const filter = {
      type: 'composite' as const,
      operator: 'or' as const,
      filters: [where('parity', '=', 1n), where('v', '=', 2n)],
    }
    expect(await run(query({ kind: 'A', filter, order: ['list'] }))).toEqual(['A:1', 'A:2'])
    expect(defined()).toEqual(['A(parity, list) serving', 'A(v, list) serving'])
  })

  test.each<[string, Query]>([
    ['by built-in rows', query({ kind: 'A', order: ['v desc'] })],
    ['by a join of equalities', query({ kind: 'A', filter: and(where('v', '=', 1n), where('parity', '=', 1n)) })],
    ['of metadata', query({ kind: '__kind__' })],
  ])('a query that is served %s adds nothing', async (_how, asked) => {
    await put([1, 1])
    await run(asked)
    expect(defined()).toEqual([])
  })

  test('a query of a reserved kind that no rows serve is refused: nothing can be built for it', async () => {
    const asked = query({ kind: '__Stat_Kind__', filter: where('kind_name', '=', 'A'), order: ['count'] })
    expect(await failure(() => run(asked))).toMatchObject({ code: 'FAILED_PRECONDITION' })
    expect(defined()).toEqual([])
  })

  test('a query that existing indexes serve, alone or joined, adds nothing', async () => {
    const database = engine.database('p')
    await put([1, 1], [3, 3])
    await engine.createIndex(database, index('A(parity, v)'))
    await engine.createIndex(database, index('A(list, v)'))
    const both = and(where('parity', '=', 1n), where('list', '=', 'all'))
    expect(await run(query({ kind: 'A', filter: both, order: ['v'] }))).toEqual(['A:1', 'A:3'])
    expect(defined()).toHaveLength(2)
  })

  test('an index that is being built already is waited for, and none is added beside it', async () => {
    await put([1, 1])
    const job = engine.indexes.create(engine.database('p'), index('A(ancestor, parity, v)'))
    const under = and(where('__key__', 'under', key('A:1')), where('parity', '=', 1n))
    expect(await run(query({ kind: 'A', filter: under, order: ['v'] }))).toEqual(['A:1'])
    expect((await job.done).state).toBe('serving')
    expect(defined()).toHaveLength(1)
  })

  test('an aggregation is given its index too', async () => {
    await put([1, 1], [3, 3])
    const asked = query({ kind: 'A', filter: where('parity', '=', 1n) })
    const { values } = await engine.database('p').runAggregationQuery(engine.context(), {
      query: asked,
      aggregations: [{ operator: 'sum', property: 'v', alias: 'sum' }],
    })
    expect(values.get('sum')).toEqual({ type: 'integer', value: 4n })
    expect(defined()).toEqual(['A(parity, v) serving'])
  })

  test('descending key order is served at once, and gets the index that production needs behind its back (query-indexes/J1)', async () => {
    await put([1, 1], [2, 1])
    expect(await run(query({ kind: 'A', order: ['__key__ desc'] }))).toEqual(['A:2', 'A:1'])
    expect(await run(query({ kind: 'A', filter: where('v', '=', 1n), order: ['__key__ desc'] }))).toEqual([
      'A:2',
      'A:1',
    ])
    await engine.indexes.ensure(engine.database('p'), index('A(v, __key__ desc)'))
    expect(defined()).toEqual(['A(__key__ desc) serving', 'A(v, __key__ desc) serving'])
  })

  test('past the deadline the query is answered with the progress, and the build goes on', async () => {
    await put(...[...Array(400).keys()].map((i): [number, number] => [i + 1, i]))
    const context = engine.context({ deadlineAt: clock.steadyMs() + 1_000 })
    const failing = failure(() => engine.database('p').runQuery(context, { query: ordered }))
    while ((engine.indexes.jobOf(engine.database('p'), definition)?.completed ?? 0) === 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Shortly before the deadline, so that the answer arrives in time.
    await clock.advance(900)
    const error = await failing
    expect(error).toMatchObject({
      code: 'FAILED_PRECONDITION',
      details: { index: 'A(parity, v desc)', estimated: '400' },
    })
    expect(error.message).toMatch(
      /^the index A\(parity, v desc\) is being built and not ready to serve: \d+ of 400 entities/,
    )
    expect(await run()).toHaveLength(200)
  })

  test('a caller that is gone no longer waits, and the build goes on', async () => {
    await put(...[...Array(200).keys()].map((i): [number, number] => [i + 1, i]))
    const gone = new AbortController()
    const context = engine.context({ signal: gone.signal })
    const failing = failure(() => engine.database('p').runQuery(context, { query: ordered }))
    gone.abort()
    expect(await failing).toMatchObject({ code: 'CANCELLED' })
    await engine.indexes.ensure(engine.database('p'), definition)
    expect(await run()).toHaveLength(100)
  })

  test('a read of the past uses an index of today', async () => {
    await put([1, 1], [2, 3])
    const database = engine.database('p')
    const { readTime } = await database.lookup(engine.context(), { keys: [keyOf(1)] })
    await put([1, 5], [2, undefined], [3, 7])
    const { results } = await database.runQuery(engine.context(), { query: ordered, read: { readTime } })
    expect(results.map((result) => formatKey(result.key))).toEqual(['A:2', 'A:1'])
  })
})

describe.each(['pessimistic', 'optimistic', 'optimisticWithEntityGroups'] as const)(
  'in a transaction: %s',
  (concurrency) => {
    const under = (order: string): Query =>
      query({
        kind: 'A',
        filter: and(where('__key__', 'under', key('A:1')), where('list', '=', 'all')),
        order: [order],
      })

    beforeEach(async () => {
      await use()
      engine.database('p').configure({ concurrency })
    })

    test.each(['readWrite', 'readOnly'] as const)('that began to read before an index was built: %s', async (mode) => {
      await put([1, 1])
      const database = engine.database('p')
      const transaction = await database.beginTransaction(engine.context(), { mode })
      expect(await run(under('v'), transaction)).toEqual(['A:1'])
      if (concurrency !== 'pessimistic' || mode === 'readOnly') await put([1, undefined])
      // This one needs another index, which is built now; what it shows is what the transaction has seen so far.
      expect(await run(under('v desc'), transaction)).toEqual(['A:1'])
      expect(defined()).toHaveLength(2)
    })

    test('that reads by an index younger than it is conflicts with what changed its result before', async () => {
      if (concurrency === 'pessimistic') return
      await put([1, 1])
      const database = engine.database('p')
      const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
      await database.lookup(engine.context(), { keys: [keyOf(1)], read: { transaction } })
      const child: Key = {
        partition: keyOf(1).partition,
        path: [
          { kind: 'A', id: 1n },
          { kind: 'A', id: 2n },
        ],
      }
      await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(child, 5)] })
      expect(await run(under('v'), transaction)).toEqual(['A:1'])
      const mutations = [mutationOf(keyOf(1), 3)]
      const error = await failure(() =>
        database.commit(engine.context(), { mode: 'transactional', transaction, mutations }),
      )
      expect(error).toMatchObject({ code: 'ABORTED' })
    })
  },
)

describe('with indexes: require', () => {
  beforeEach(() => use({ indexes: 'require' }))

  test('a query that lacks an index is refused, with the entry for index.yaml', async () => {
    await put([1, 1])
    const error = await failure(() => run())
    expect(error).toMatchObject({ code: 'FAILED_PRECONDITION', details: { index: 'A(parity, v desc)' } })
    const entry = '- kind: "A"\n  properties:\n  - name: "parity"\n  - name: "v"\n    direction: desc\n'
    expect(error.message).toContain(entry.replaceAll('"', ''))
    expect(error.details['index.yaml']).toBe(entry)
    expect(defined()).toEqual([])
  })

  test('a query is served by what was created by name', async () => {
    await put([1, 1])
    void engine.createIndex(engine.database('p'), definition)
    expect(await run()).toEqual(['A:1'])
  })

  test('descending key order wants its index, as in production (query-indexes/J1)', async () => {
    await put([1, 1])
    const asked = query({ kind: 'A', order: ['__key__ desc'] })
    expect(await failure(() => run(asked))).toMatchObject({ details: { index: 'A(__key__ desc)' } })
    await engine.createIndex(engine.database('p'), index('A(__key__ desc)'))
    expect(await run(asked)).toEqual(['A:1'])
  })

  test('is a setting of a database', async () => {
    engine.database('p').configure({ indexes: 'auto' })
    expect(await run()).toEqual([])
  })
})

describe('with index.yaml', () => {
  let dir: string
  let indexFile: string

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sixtables-indexes-'))
    indexFile = join(dir, 'index.yaml')
  })

  afterEach(async () => {
    await engine.close()
    await rm(dir, { recursive: true })
  })

  test('what was built for a query is written there, and what was created by name is not', async () => {
    await use({ indexFile })
    await engine.createIndex(engine.database('p'), index('A(v, parity)'))
    await run()
    await run(query({ kind: 'A', order: ['__key__ desc'] }))
    await engine.indexes.ensure(engine.database('p'), index('A(__key__ desc)'))
    await engine.indexes.file?.refresh()
    expect(await readFile(indexFile, 'utf8')).toMatch(
      /- name: "parity"\n {2}- name: "v"\n {4}direction: desc\n\n- kind: "A"\n.*\n.*"__key__"/,
    )
    expect(engine.indexes.file?.definitions.map(formatIndex)).toEqual(['A(parity, v desc)', 'A(__key__ desc)'])
  })

  test('what stands there serves where indexes are required, in every database that asks for it', async () => {
    await writeFile(indexFile, withGenerated(undefined, [definition]).replace(/# AUTO[^-]*/, ''))
    await use({ indexFile, indexes: 'require' })
    await put([1, 1])
    expect(await run()).toEqual(['A:1'])
    await engine.database('other').runQuery(engine.context(), {
      query: { ...ordered, partition: { projectId: 'other', databaseId: '', namespaceId: '' } },
    })
    expect(defined('other')).toEqual(['A(parity, v desc) serving'])
    const error = await failure(() => run(query({ kind: 'A', order: ['v', 'parity'] })))
    expect(error.code).toBe('FAILED_PRECONDITION')
  })

  test('what is added while the store is open is seen by the next query that lacks an index', async () => {
    await use({ indexFile, indexes: 'require' })
    expect((await failure(() => run())).code).toBe('FAILED_PRECONDITION')
    await writeFile(indexFile, withGenerated(undefined, [definition]))
    expect(await run()).toEqual([])
  })

  test('of several entries that would do, no more are built than are needed (query-indexes/J2)', async () => {
    await writeFile(
      indexFile,
      withGenerated(undefined, [index('A(v, parity)'), definition, index('A(ancestor, parity, v desc)')]),
    )
    await use({ indexFile })
    await run()
    expect(defined()).toEqual(['A(parity, v desc) serving'])
  })

  test('a store in a folder has its file beside its rows, and builds what it lists when it is opened', async () => {
    const folder = join(dir, 'store')
    await use({ dir: folder })
    await put([1, 1])
    await run()
    await engine.close()
    const text = await readFile(join(folder, 'index.yaml'), 'utf8')
    await writeFile(
      join(folder, 'index.yaml'),
      `indexes:\n- kind: A\n  properties:\n  - name: v\n  - name: parity\n${text.replace('indexes:\n', '')}`,
    )
    await use({ dir: folder })
    await engine.indexes.deploy(engine.database('p'))
    expect(defined()).toEqual(['A(parity, v desc) serving', 'A(v, parity) serving'])
    await engine.indexes.drop(engine.database('p'), 1n).done
    await engine.indexes.file?.refresh()
    expect(engine.indexes.file?.definitions.map(formatIndex)).toEqual(['A(v, parity)'])
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })
})

test('a query whose index goes before it is built ends its transaction: it keeps no writer waiting any more', async () => {
  await use()
  await put(...Array.from({ length: 2000 }, (_, i): [number, number] => [i + 1, i]))
  const database = engine.database('p')
  const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
  await database.lookup(engine.context(), { keys: [keyOf(1)], read: { transaction } })
  const querying = failure(() => run(ordered, transaction))
  const building = await engine.indexes.create(database, definition).defined
  await engine.indexes.drop(database, building.id).done
  expect(await querying).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('deleted') })
  await put([1, 7])
  expect(engine.openTransactions).toBe(0)
})
