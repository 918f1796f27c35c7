import { type Key, openEngine } from '@sixtables/engine'
import { databaseCode, topicRowKey, transactionTopic } from '@sixtables/engine/store'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { indexOfValues, mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { families } from '../row-store/row-store.ts'
import { severalGateways } from './several-gateways.ts'

const key = (projectId: string): Key => ({
  partition: { projectId, databaseId: '', namespaceId: '' },
  path: [{ kind: 'G', name: 'a' }],
})
const notes = 5_000

test('a gateway learns of databases and indexes without a walk over the rows of transactions', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const one = await openEngine({
    store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway: 1 }),
    scheduler,
  })
  for (const project of ['p', 'q']) {
    const database = one.database(project)
    await database.commit(one.context(), { mode: 'nonTransactional', mutations: [mutationOf(key(project), 1)] })
    await one.createIndex(database, indexOfValues)
    const change = { type: 'set', family: 't', at: 1n, value: new Uint8Array(1) } as const
    await rows.mutateRows(
      Array.from({ length: notes }, (_, i) => ({
        key: topicRowKey(databaseCode(project, ''), transactionTopic, 'token', String(i)),
        changes: [change],
      })),
    )
  }
  await one.close()
  const counted = rows.through(async (_, effect) => effect())
  const scanRows = counted.scanRows.bind(counted)
  /** Rows that a store passes by in scans of metadata, wanted or not. */
  let passed = 0
  counted.scanRows = async (scan) => {
    const found = await scanRows(scan)
    if (!scan.range.start.startsWith('M')) return found
    const end = found.length < scan.limit ? scan.range.end : `${found.at(-1)?.key}\x00`
    const wanted = families.map((family) => ({ family, newest: 1 }))
    passed += (await rows.scanRows({ range: { start: scan.range.start, end }, limit: 100_000, wanted })).length
    return found
  }
  const two = await openEngine({ store: severalGateways({ rows: counted, gateway: 2 }), scheduler })
  expect(two.databases().map(({ projectId }) => projectId)).toEqual(['p', 'q'])
  for (const project of ['p', 'q']) expect(two.database(project).indexes).toHaveLength(1)
  await two.createIndex(two.database('q'), { ...indexOfValues, kind: 'H' })
  expect(passed, `rows of metadata; there are ${2 * notes} of transactions`).toBeLessThan(notes)
  await two.close()
})

test('a gateway starts without a walk over deleted entities', async () => {
  const rows = new MemoryRows()
  const one = await openEngine({
    store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway: 1 }),
  })
  for (let i = 0; i < 200; i++) {
    const entity: Key = { ...key('p'), path: [{ kind: 'G', id: BigInt(i + 1) }] }
    for (const value of [1, undefined]) {
      const mutations = [mutationOf(entity, value)]
      await one.database('p').commit(one.context(), { mode: 'nonTransactional', mutations })
    }
  }
  await one.close()
  let scanned = 0
  const counted = rows.through(async ({ kind, key: row }, effect) => {
    if (kind === 'scan' && row.startsWith('E')) scanned++
    return effect()
  })
  const two = await openEngine({ store: severalGateways({ rows: counted, gateway: 2 }) })
  expect(scanned).toBe(1)
  await two.close()
})

test('a check of all databases takes the newest stamp of one that is ahead of the clock of the machine', async () => {
  const scheduler = new VirtualClock()
  const engine = await openEngine({ store: severalGateways({ rows: new MemoryRows(), gateway: 1 }), scheduler })
  const put = async (project: string, value: number): Promise<void> => {
    const mutations = [mutationOf(key(project), value)]
    await engine.database(project).commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  await put('q', 1)
  // The clock stands still, so each commit of p is a microsecond further ahead of it.
  for (let value = 1; value <= 5; value++) await put('p', value)
  expect(await engine.check()).toMatchObject({ entities: 2, problems: [] })
  await engine.close()
})
