/** The built server, stopped and started again on its folder. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MethodName } from '../../src/methods.ts'
import { sixtables } from '../support/cli.ts'
import type { Plain } from '../support/published-protos.ts'
import { requireBuild, ServerProcess } from '../support/server-process.ts'
import { openWire, readAnswer } from '../support/wires.ts'

let folder: string
let running: ServerProcess | undefined

beforeEach(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'sixtables-restart-'))
})

afterEach(async () => {
  await running?.kill()
  running = undefined
  rmSync(folder, { recursive: true, force: true })
})

type Send = (method: MethodName, request: Plain, project?: string) => Promise<Plain>

/** One run of the server, stopped properly after `work`. */
async function run(work: (send: Send) => Promise<void>, ...flags: string[]): Promise<void> {
  const server = await ServerProcess.start(folder, ...flags)
  running = server
  const wire = await openWire('gRPC', server)
  await work(async (method, request, project = 'p') => {
    const answer = await wire.send(project, method, request)
    expect(answer, method).toMatchObject({ code: 'OK' })
    return readAnswer(wire, method, answer)
  })
  wire.close()
  expect(await server.stop(), server.complaints).toBe(0)
}

const keyOf = (name: string, partitionId: Plain = {}): Plain => ({ partitionId, path: [{ kind: 'K', name }] })
const put = (key: Plain, v: number): Plain => ({
  mode: 'NON_TRANSACTIONAL',
  mutations: [{ upsert: { key, properties: { v: { integerValue: String(v) } } } }],
})
const all: Plain = { query: { kind: [{ name: 'K' }], order: [{ property: { name: 'v' }, direction: 'DESCENDING' }] } }
const values = ({ batch }: Plain): unknown[] =>
  (((batch as Plain)['entityResults'] ?? []) as { entity: { properties: { v: { integerValue: string } } } }[]).map(
    ({ entity }) => Number(entity.properties.v.integerValue),
  )

test('entities of all projects, databases and namespaces are there, with their versions', async () => {
  const before: Plain[] = []
  const after: Plain[] = []
  const readAll = async (send: Send, into: Plain[]): Promise<void> => {
    into.push(await send('Lookup', { keys: [keyOf('a'), keyOf('b')] }))
    into.push(await send('Lookup', { keys: [keyOf('a')] }, 'another'))
    into.push(await send('Lookup', { databaseId: 'db', keys: [keyOf('a')] }))
    into.push(await send('Lookup', { keys: [keyOf('a', { namespaceId: 'n' })] }))
  }
  await run(async (send) => {
    await send('Commit', put(keyOf('a'), 1))
    await send('Commit', put(keyOf('b'), 2))
    await send('Commit', put(keyOf('a'), 3), 'another')
    await send('Commit', { databaseId: 'db', ...put(keyOf('a'), 4) })
    await send('Commit', put(keyOf('a', { namespaceId: 'n' }), 5))
    await readAll(send, before)
  })
  await run((send) => readAll(send, after))
  expect(after.map(({ found, missing }) => ({ found, missing }))).toEqual(
    before.map(({ found, missing }) => ({ found, missing })),
  )
  expect(before.map(({ found }) => (found as unknown[]).length)).toEqual([2, 1, 1, 1])
})

test('commits that were not applied yet are found by queries of the next run', async () => {
  await run(
    async (send) => {
      for (const [i, name] of ['a', 'b', 'c'].entries()) await send('Commit', put(keyOf(name), i))
      expect(values(await send('RunQuery', all)), 'held back').toEqual([])
    },
    '--apply',
    'manual',
  )
  const closed = await sixtables(['check', '--data-dir', folder])
  expect(closed, closed.err).toMatchObject({ code: 0, out: expect.stringContaining('All agree.') })
  await run(async (send) => expect(values(await send('RunQuery', all))).toEqual([2, 1, 0]))
})

test('ids and versions go on, cursors stay good, and transactions of the earlier run are over', async () => {
  const ids: string[] = []
  let version = 0n
  let endCursor: unknown
  let transaction: unknown
  const allocate = async (send: Send): Promise<void> => {
    const { keys } = await send('AllocateIds', { keys: Array.from({ length: 20 }, () => ({ path: [{ kind: 'K' }] })) })
    ids.push(...(keys as { path: { id: string }[] }[]).map(({ path }) => path[0]?.id ?? ''))
  }
  const versionOf = ({ mutationResults }: Plain): bigint =>
    BigInt((mutationResults as { version: string }[])[0]?.version ?? 0)
  await run(async (send) => {
    await allocate(send)
    for (const [i, name] of ['a', 'b', 'c'].entries()) version = versionOf(await send('Commit', put(keyOf(name), i)))
    const page = await send('RunQuery', { query: { ...(all['query'] as Plain), limit: { value: 2 } } })
    expect(values(page)).toEqual([2, 1])
    endCursor = (page['batch'] as Plain)['endCursor']
    transaction = (await send('BeginTransaction', {}))['transaction']
  })
  await run(async (send) => {
    await allocate(send)
    expect(new Set(ids).size).toBe(40)
    expect(versionOf(await send('Commit', put(keyOf('d'), -1)))).toBeGreaterThan(version)
    const rest = await send('RunQuery', { query: { ...(all['query'] as Plain), startCursor: endCursor } })
    expect(values(rest)).toEqual([0, -1])
    await expect(send('Rollback', { transaction })).rejects.toThrow('INVALID_ARGUMENT')
  })
})
