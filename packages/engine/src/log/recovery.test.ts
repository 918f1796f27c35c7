import { expect, test } from 'vitest'
import { type Engine, openEngine } from '../engine/engine.ts'
import { MemoryKv } from '../storage/memory-kv.ts'

/**
 * Rows of a folder left by a killed 0.1.0: a second commit to the groups a and b is wholly applied in a, and up to milestone
 * A in b, which still has the index rows of n=1.
 */
const leftRows: Readonly<Record<string, string>> = {
  '41700001000100014700016e0001188000000000000001014700010362000100': '01',
  '41700001000100014700016e0001188000000000000002014700010361000100': '01',
  '44700001000100014700016e0001e77ffffffffffffffd014700010361000100': '01',
  '44700001000100014700016e0001e77ffffffffffffffe014700010362000100': '01',
  '4570000100010001014700010361000100': '000660de327a8c07000660de327943be000660de327a8c071a070a016e12021002',
  '4570000100010001014700010362000100': '000660de327a8c07000660de327943be000660de327a8c071a070a016e12021002',
  '4b70000100010001470001014700010361000100': '',
  '4b70000100010001470001014700010362000100': '',
  '4c70000100010001014700010361000100000660de327943be':
    '010000000000000000000000000100000009014700010361000100ffffffff00000021000660de327943be000660de327943be000660de327943be1a070a016e12021001',
  '4c70000100010001014700010361000100000660de327a8c07':
    '01000000000000000000000000010000000901470001036100010000000021000660de327943be000660de327943be000660de327943be1a070a016e1202100100000021000660de327a8c07000660de327943be000660de327a8c071a070a016e12021002',
  '4c70000100010001014700010362000100000660de327943be':
    '010000000000000000000000000100000009014700010362000100ffffffff00000021000660de327943be000660de327943be000660de327943be1a070a016e12021001',
  '4c70000100010001014700010362000100000660de327a8c07':
    '01000000000000000000000000010000000901470001036200010000000021000660de327943be000660de327943be000660de327943be1a070a016e1202100100000021000660de327a8c07000660de327943be000660de327a8c071a070a016e12021002',
  '4d00010001636f6d6d697456657273696f6e0001': '000660de328885fe',
  '4d700001000164617461626173650001':
    '7b22656d707479417272617941734e756c6c223a66616c73652c2273636174746572223a22737061727365227d',
  '5070000100010001014700010362000100000660de327a8c07': '',
}

function storeOf(rows: Readonly<Record<string, string>>): MemoryKv {
  return new MemoryKv(
    Object.entries(rows).map(([key, value]) => ({
      key: Buffer.from(key, 'hex').toString('latin1'),
      value: Buffer.from(value, 'hex'),
    })),
  )
}

async function indexRowsOf(engine: Engine, name: string): Promise<readonly string[]> {
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const { rows } = await engine.inspector.rows({ partition, path: [{ kind: 'G', name }] })
  return rows.filter(({ table }) => table.startsWith('EntitiesByProperty')).map(({ row }) => row)
}

test('a commit of several groups that an earlier version left half applied is applied on opening', async () => {
  const engine = await openEngine({ kv: storeOf(leftRows) })
  expect(await engine.check()).toMatchObject({ entities: 2, logRecords: 4, pending: [], problemCount: 0 })
  expect(await indexRowsOf(engine, 'b')).toEqual([
    'EntitiesByPropertyAsc(p, G, n=2, G:"b")',
    'EntitiesByPropertyDesc(p, G, n=2, G:"b")',
  ])
  await engine.close()
})

test('a marker whose record is lost stays, and a check reports it', async () => {
  const rows = { ...leftRows }
  delete rows['4c70000100010001014700010362000100000660de327a8c07']
  const engine = await openEngine({ kv: storeOf(rows) })
  const { problems } = await engine.check()
  expect(problems.map(({ kind }) => kind)).toContain('marker without record')
  await engine.close()
})
