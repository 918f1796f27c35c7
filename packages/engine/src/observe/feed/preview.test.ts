import { expect, onTestFinished, test, vi } from 'vitest'
import { RecordingLedger } from '../../context.ts'
import type { CommitRequest, Mutation } from '../../database/api.ts'
import { encodeKey, encodeProperties } from '../../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import type { Key } from '../../model/key.ts'
import type { Value } from '../../model/value.ts'
import { tableIds } from '../../row.ts'
import { MemoryKv } from '../../storage/memory-kv.ts'
import { turnScheduler } from '../../testing/turn-scheduler.ts'
import { ListedRows } from './commit-feed.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keyOf = (name?: string): Key => ({ partition, path: [{ kind: 'K', ...(name === undefined ? {} : { name }) }] })
const text = (value: string): Value => ({ type: 'string', value })

function put(key: Key, properties: Record<string, Value>, more: Partial<Mutation> = {}): Mutation {
  const keyBytes = encodeKey(key)
  const head = Buffer.from([0x0a, keyBytes.length])
  const entity = Buffer.concat([head, keyBytes, encodeProperties(new Map(Object.entries(properties)))])
  return { operation: 'upsert', entity, ...more } as Mutation
}

const plain = (...mutations: Mutation[]): CommitRequest => ({ mode: 'nonTransactional', mutations })

async function allRows(engine: Engine): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>()
  for (const table of tableIds) {
    for (const { rowKey, value } of (await engine.inspector.table(table, { limit: 1000 })).rows) rows.set(rowKey, value)
  }
  return rows
}

/** preview/PV1: the preview, then the commit, and the changes of the commit in the six tables. */
async function compared(engine: Engine, request: CommitRequest) {
  const database = engine.database('p')
  const before = await allRows(engine)
  const preview = await engine.preview(database, engine.context(), request)
  expect(await allRows(engine), 'a preview writes nothing').toEqual(before)
  const { indexUpdates, mutationResults } = await database.commit(engine.context(), request)
  const after = await allRows(engine)
  const written = [...after].filter(([row, value]) => before.get(row) !== value).map(([row]) => row)
  const deleted = [...before.keys()].filter((row) => !after.has(row))
  const previewed = preview.rows
  const ofTables = (rows: readonly string[]) => rows.filter((row) => previewed.some(({ rowKey }) => rowKey === row))
  expect(preview.indexUpdates).toBe(indexUpdates)
  expect(preview.conflicts).toEqual(mutationResults.map(({ conflictDetected }) => conflictDetected))
  const isLogged = (row: string): boolean => /^(4c|4d)/i.test(row)
  expect(ofTables(written).sort(), 'rows written').toEqual(written.filter((row) => !isLogged(row)).sort())
  expect(ofTables(deleted).sort(), 'rows deleted').toEqual([...deleted].sort())
  expect(previewed).toHaveLength(ofTables(written).length + deleted.length)
  return preview
}

test('a preview names the rows that the commit then writes and deletes', async () => {
  const engine = await openEngine({ kv: new MemoryKv() })
  const descending = { name: 'b', direction: 'descending' } as const
  const definition = {
    kind: 'K',
    ancestor: false,
    properties: [{ name: 'a', direction: 'ascending' } as const, descending],
  }
  await engine.indexes.create(engine.database('p'), definition).done
  const created = await compared(engine, plain(put(keyOf('x'), { a: text('1'), b: text('1') })))
  expect(created.tables).toEqual({
    Entities: { written: 1, deleted: 0 },
    EntitiesByKind: { written: 1, deleted: 0 },
    EntitiesByPropertyAsc: { written: 2, deleted: 0 },
    EntitiesByPropertyDesc: { written: 2, deleted: 0 },
    EntitiesByCompositeProperty: { written: 1, deleted: 0 },
    Log: { written: 1, deleted: 0 },
  })
  const changed = await compared(engine, plain(put(keyOf('x'), { a: text('1'), b: text('2') })))
  expect(changed.tables).toEqual({
    Entities: { written: 1, deleted: 0 },
    EntitiesByPropertyAsc: { written: 1, deleted: 1 },
    EntitiesByPropertyDesc: { written: 1, deleted: 1 },
    EntitiesByCompositeProperty: { written: 1, deleted: 1 },
    Log: { written: 1, deleted: 0 },
  })
  const same = await compared(engine, plain(put(keyOf('x'), { a: text('1'), b: text('2') })))
  expect(same.tables).toEqual({})
  await compared(engine, plain({ operation: 'delete', key: keyOf('x') }, { operation: 'delete', key: keyOf('y') }))
  await engine.close()
})

test('a preview tells of a conflict, and of what the last commit left between commit and apply', async () => {
  const engine = await openEngine({ kv: new MemoryKv() })
  const database = engine.database('p')
  database.configure({ applyPolicy: { type: 'manual' } })
  const { mutationResults } = await database.commit(engine.context(), plain(put(keyOf('x'), { a: text('1') })))
  const next = put(keyOf('x'), { a: text('2') }, { conflict: { baseVersion: 1n } })
  expect(await engine.preview(database, engine.context(), plain(next))).toMatchObject({ conflicts: [true], tables: {} })
  const conflict = { baseVersion: mutationResults[0]?.version ?? 0n }
  const preview = await engine.preview(database, engine.context(), plain({ ...next, conflict } as Mutation))
  expect(preview.conflicts).toEqual([false])
  expect(preview.tables).toMatchObject({ EntitiesByPropertyAsc: { written: 1, deleted: 1 } })
  await engine.close()
})

test('the rows of a large commit are previewed in several turns', async () => {
  let turn = 0
  const engine = await openEngine({ kv: new MemoryKv(), scheduler: turnScheduler(() => turn++) })
  const mutations = Array.from({ length: 3_000 }, (_, i) => put(keyOf(`x${i}`), { a: text('1'), b: text(`${i}`) }))
  const turns = new Set<number>()
  const add = ListedRows.prototype.add
  vi.spyOn(ListedRows.prototype, 'add').mockImplementation(function (this: ListedRows, ...args) {
    turns.add(turn)
    return add.apply(this, args)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const preview = await engine.preview(engine.database('p'), engine.context(), plain(...mutations))
  expect(preview.tables).toMatchObject({ Entities: { written: 3_000, deleted: 0 } })
  expect(turns.size).toBeGreaterThan(4)
  await engine.close()
})

test('a preview gives no id, and charges nothing', async () => {
  const engine = await openEngine({ kv: new MemoryKv() })
  const database = engine.database('p')
  const context = engine.context()
  const next = async () => await database.nextIds(engine.context(), keyOf())
  const before = await next()
  const ledger = new RecordingLedger()
  const preview = await engine.preview(
    database,
    { ...context, ledger },
    plain(put(keyOf(), { a: text('1') }), put(keyOf(), { a: text('1') })),
  )
  expect(preview.tables).toMatchObject({ Entities: { written: 2, deleted: 0 } })
  expect(await next()).toEqual(before)
  expect((await allRows(engine)).size).toBe(0)
  expect(ledger.entries).toEqual([])
  await engine.close()
})

test.each<[string, CommitRequest]>([
  ['an insert of an entity that exists', plain({ ...put(keyOf('x'), {}), operation: 'insert' } as Mutation)],
  ['an update of a missing entity', plain({ ...put(keyOf('y'), {}), operation: 'update' } as Mutation)],
  ['two mutations of one entity', plain(put(keyOf('x'), {}), put(keyOf('x'), {}))],
  ['a property name that is not allowed', plain(put(keyOf('x'), { __a__: text('1') }))],
  ['a commit without a transaction', { mode: 'transactional', mutations: [] }],
])('a preview refuses %s in the words of the commit', async (_, request) => {
  const engine = await openEngine({ kv: new MemoryKv() })
  const database = engine.database('p')
  await database.commit(engine.context(), plain(put(keyOf('x'), {})))
  const refusal = (verb: () => unknown) =>
    (async () => await verb())().catch(({ code, message }) => ({ code, message }))
  const refused = await refusal(() => database.commit(engine.context(), request))
  expect(refused).toHaveProperty('code')
  expect(await refusal(() => engine.preview(database, engine.context(), request))).toEqual(refused)
  await engine.close()
})
