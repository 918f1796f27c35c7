import { afterEach, beforeEach, expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { index } from '../testing/query-world.ts'

let engine: Engine

beforeEach(async () => {
  engine = await openEngine()
})

afterEach(() => engine.close())

const keyIn = (projectId: string) => ({
  partition: { projectId, databaseId: '', namespaceId: '' },
  path: [{ kind: 'A', id: 1n }],
})
const listed = (): readonly string[] => engine.databases().map(({ projectId }) => projectId)

test('reads of databases that do not exist leave nothing (databases/DB1)', async () => {
  for (let i = 0; i < 50; i++) {
    const project = `p${i}`
    const database = engine.database(project)
    await database.lookup(engine.context(), { keys: [keyIn(project)] })
    await database.rollback(engine.context(), await database.beginTransaction(engine.context(), { mode: 'readWrite' }))
    await database.nextIds(engine.context(), { ...keyIn(project), path: [{ kind: 'A' }] })
  }
  expect(listed()).toEqual([])
})

test('a database is kept from its first write, setting, index or ids on', async () => {
  const mutations = [mutationOf(keyIn('written'), 1)]
  await engine.database('written').commit(engine.context(), { mode: 'nonTransactional', mutations })
  engine.database('set').configure({ indexes: 'require' })
  await engine.createIndex(engine.database('indexed'), index('A(parity, v)'))
  await engine.database('counted').allocateIds(engine.context(), [{ ...keyIn('counted'), path: [{ kind: 'A' }] }])
  engine.database('named').keep()
  expect(listed()).toEqual(['written', 'set', 'indexed', 'counted', 'named'])
})

test('all that stand for a database know what one of them made', async () => {
  const one = engine.database('p')
  engine.database('q')
  const other = engine.database('p')
  expect(other).not.toBe(one)
  await engine.createIndex(one, index('A(parity, v)'))
  one.configure({ lockTimeoutMs: 7 })
  await other.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(keyIn('p'), 1)] })
  expect(other.catalogue).toBe(one.catalogue)
  expect(other.settings).toMatchObject({ lockTimeoutMs: 7 })
  expect(listed()).toEqual(['p'])
  expect((await engine.check()).problems).toEqual([])
})

test('settings of all databases count for those that are named already', () => {
  const [named, own] = [engine.database('p'), engine.database('q')]
  own.configure({ lockTimeoutMs: 7 })
  engine.configure({ indexes: 'require' })
  expect([named, own].map(({ settings }) => [settings.indexes, settings.lockTimeoutMs])).toEqual([
    ['require', engine.settings.lockTimeoutMs],
    ['require', 7],
  ])
})
