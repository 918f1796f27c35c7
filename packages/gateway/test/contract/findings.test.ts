/**
 * Each pattern of use is found in the traffic of the public client, and well-behaved traffic gives none (findings/P2 of
 * engine/findings/findings.ts).
 */
import { Datastore, PropertyFilter } from '@google-cloud/datastore'
import { type Engine, type FindingKind, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'

/** Time stands still: how many writes fall into ten seconds is not a matter of the machine. */
const clock = new VirtualClock()
let engine: Engine
let gateway: Gateway
let datastore: Datastore

beforeAll(async () => {
  // Without this the client asks the network where it is running.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  engine = await openEngine({ scheduler: clock })
  gateway = await startGateway({ engine, port: 0 })
  process.env['DATASTORE_EMULATOR_HOST'] = `localhost:${gateway.port}`
  datastore = new Datastore({ projectId: 'p' })
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
})

beforeEach(() => engine.reset())

interface Entity {
  readonly path: readonly (string | number)[]
  readonly data?: object
}

/** In commits of 100. */
async function save(entities: readonly Entity[]): Promise<void> {
  for (let from = 0; from < entities.length; from += 100) {
    const part = entities.slice(from, from + 100)
    await datastore.save(part.map(({ path, data = { a: 1 } }) => ({ key: datastore.key([...path]), data })))
  }
}

function many(count: number, make: (i: number) => Entity): readonly Entity[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

/** Spread, and the same at each run. */
function spread(i: number): number {
  return (Math.imul(i + 1, 0x9e3779b1) >>> 0) + 1
}

function found(): readonly FindingKind[] {
  return [...new Set(engine.findings().map(({ kind }) => kind))].sort()
}

const traffic: Readonly<Record<FindingKind, () => Promise<void>>> = {
  'sequential-keys': () => save(many(200, (i) => ({ path: ['Order', i + 1] }))),
  'monotonic-index': () =>
    save(many(200, (i) => ({ path: ['Event', spread(i)], data: { at: new Date(1_700_000_000_000 + i * 1000) } }))),
  'hot-key': async () => {
    await save([{ path: ['Config', 'app'] }, ...many(20, (i) => ({ path: ['User', spread(i)] }))])
    for (let i = 0; i < 600; i++) {
      await datastore.get(
        [datastore.key(['Config', 'app']), datastore.key(['User', spread(i % 20)])].slice(0, 1 + (i % 2)),
      )
    }
  },
  'hot-range': async () => {
    await save(many(100, (i) => ({ path: ['Player', `p${String(i).padStart(3, '0')}`] })))
    const key = (i: number) => datastore.key(['Player', `p${String(i).padStart(3, '0')}`])
    for (let i = 0; i < 200; i++) await datastore.get(Array.from({ length: 5 }, (_, j) => key(40 + ((i + j) % 10))))
  },
  'sudden-start': async () => {
    for (let part = 0; part < 13; part++) {
      const keys = Array.from({ length: 500 }, (_, i) => datastore.key(['Burst', spread(part * 500 + i)]))
      await datastore.save(keys.map((key) => ({ key, data: { a: 1 }, excludeFromIndexes: ['a'] })))
    }
  },
  'scan-over-tombstones': async () => {
    const jobs = Array.from({ length: 400 }, (_, i) => datastore.key(['Job', spread(i)]))
    for (let from = 0; from < jobs.length; from += 100) {
      await datastore.save(jobs.slice(from, from + 100).map((key, i) => ({ key, data: { at: from + i } })))
    }
    for (let from = 0; from < jobs.length; from += 100) await datastore.delete(jobs.slice(from, from + 100))
    // In a new second each operation counts again.
    await clock.advance(1_000)
    for (let i = 0; i < 80; i++) await datastore.runQuery(datastore.createQuery('Job').order('at').limit(5))
  },
  'hot-entity-group': async () => {
    const key = datastore.key(['Counter', 'visits'])
    await datastore.save({ key, data: { n: 0 } })
    const add = async (): Promise<void> => {
      const transaction = datastore.transaction()
      await transaction.run()
      const [counter] = await transaction.get(key)
      transaction.save({ key, data: { n: counter.n + 1 } })
      await transaction.commit()
    }
    for (let round = 0; round < 20; round++) await Promise.allSettled([add(), add(), add(), add()])
  },
  'unread-index': async () => {
    await datastore.runQuery(
      datastore
        .createQuery('Task')
        .filter(new PropertyFilter('done', '=', false))
        .order('due'),
    )
    engine.reset({ projectId: 'p', databaseId: '', namespaceId: '' })
    const done = {
      properties: [
        { name: 'owner', direction: 'ascending' },
        { name: 'due', direction: 'ascending' },
      ],
    } as const
    await engine.createIndex(engine.database('p'), { kind: 'Task', ancestor: false, properties: done.properties })
    await save(many(300, (i) => ({ path: ['Task', spread(i)], data: { owner: `o${i % 7}`, due: spread(i) } })))
  },
  'needless-index': async () => {
    await save(
      many(150, (i) => ({
        path: ['Page', spread(i)],
        data: { url: `u${spread(i)}`, title: 't', text: 'x', size: i % 5 },
      })),
    )
    for (let i = 0; i < 40; i++) {
      await datastore.runQuery(datastore.createQuery('Page').filter(new PropertyFilter('url', '=', `u${spread(i)}`)))
    }
  },
  'single-calls': async () => {
    for (let i = 0; i < 120; i++) await datastore.save({ key: datastore.key(['Row', spread(i)]), data: { a: 1 } })
  },
  'large-offset': async () => {
    await save(many(300, (i) => ({ path: ['Item', spread(i)] })))
    for (let page = 4; page < 12; page++) {
      await datastore.runQuery(
        datastore
          .createQuery('Item')
          .offset(page * 20)
          .limit(10),
      )
    }
  },
  'duplicate-in-commit': async () => {
    const key = datastore.key(['Note', 'n'])
    await datastore
      .save([
        { key, data: { a: 1 } },
        { key, data: { a: 2 } },
      ])
      .catch(() => {})
  },
  'negative-id': () => save([{ path: ['Thing', -5] }]),
  'slash-or-dot-in-name': () => save([{ path: ['File', 'home/ada'], data: { 'a.b': 1 } }]),
}

for (const [kind, run] of Object.entries(traffic)) {
  test(`${kind} is found in traffic of its kind, with figures, a remedy and a lab`, async () => {
    await run()
    const finding = engine.findings().find((one) => one.kind === kind)
    expect(found()).toContain(kind)
    expect(finding?.words).toMatch(/\.$/)
    expect(finding?.evidence.length).toBeGreaterThan(0)
    expect(finding?.share).toBeGreaterThan(0)
    expect(finding?.remedy).toMatch(/\.$/)
    expect(finding?.lab).toMatch(/^[a-z0-9-]+$/)
  })
}

test('a thousand new entities at random keys, in large commits, are not taken for a sequence', async () => {
  for (let part = 0; part < 4; part++) {
    const keys = Array.from({ length: 250 }, (_, i) => datastore.key(['Row', spread(part * 250 + i)]))
    await datastore.save(keys.map((key) => ({ key, data: { a: 1 }, excludeFromIndexes: ['a'] })))
  }
  expect(found()).toEqual([])
})

test('well-behaved traffic gives no finding', async () => {
  for (let round = 0; round < 12; round++) {
    const keys = (await datastore.allocateIds(datastore.key(['Customer']), 50))[0]
    await datastore.save(
      keys.map((key, i) => ({ key, data: { name: `n${spread(round * 50 + i)}`, city: `c${i % 9}` } })),
    )
    await datastore.get(keys.slice(0, 20))
    for (let i = 0; i < 4; i++) {
      const query = datastore
        .createQuery('Customer')
        .filter(new PropertyFilter('city', '=', `c${i}`))
        .order('name')
      const [, { endCursor }] = await datastore.runQuery(query.limit(10))
      if (endCursor !== undefined) await datastore.runQuery(query.start(endCursor).limit(10))
    }
    const transaction = datastore.transaction()
    await transaction.run()
    const [customer] = await transaction.get(keys[0] ?? datastore.key(['Customer', 'none']))
    transaction.save({ key: keys[0], data: { ...customer, city: 'moved' } })
    await transaction.commit()
  }
  expect(found()).toEqual([])
})

test('a habit given up is no longer counted, and a reset forgets all', async () => {
  await traffic['sequential-keys']()
  expect(found()).toContain('sequential-keys')
  await engine.reset()
  expect(found()).toEqual([])
})
