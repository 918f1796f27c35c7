import { expect, test, vi } from 'vitest'
import { requireBuild } from '../../../test/support/server-process.ts'
import { readFixture } from './fixture-request.ts'

requireBuild()
// The sources have no program for a thread.
const built: string = '../../../dist/admin/emulator/fixture-request.js'
const { fixtureRequest } = (await import(built)) as typeof import('./fixture-request.ts')

const entities = Array.from({ length: 1200 }, (_, i) => ({
  key: `ToDo:${i + 1}`,
  properties: { title: `number ${i}` },
}))
const bodyOf = (text: string): Buffer => Buffer.from(JSON.stringify({ project: 'demo', format: 'json', text }))

/** The number of entities in each batch, and the longest text that this thread parses meanwhile. */
async function read(body: Buffer): Promise<{ readonly batches: readonly number[]; readonly parsed: number }> {
  const parse = vi.spyOn(JSON, 'parse')
  const batches: number[] = []
  const request = await fixtureRequest(body)
  for await (const batch of request.batches) batches.push(batch.length)
  expect(request.count).toBe(batches.reduce((sum, count) => sum + count, 0))
  return { batches, parsed: Math.max(0, ...parse.mock.calls.map(([text]) => text.length)) }
}

test('a large fixture is parsed in a thread, which sends one batch after the other', async () => {
  const body = bodyOf(JSON.stringify({ entities }))
  expect(await read(body)).toEqual({ batches: [500, 500, 200], parsed: 0 })
  const last = { path: [{ kind: 'ToDo', id: 1200n }], hasChildren: false, parent: undefined }
  for await (const batch of (await fixtureRequest(body)).batches)
    if (batch.length === 200) expect(batch[199]).toMatchObject(last)
})

test('a small fixture is parsed here, and a short text with many entities is not', async () => {
  const small = bodyOf(JSON.stringify({ entities: entities.slice(0, 20) }))
  expect(await read(small)).toEqual({ batches: [20], parsed: small.length })
  const short = bodyOf('[{"key": "ToDo", "repeat": 700}]')
  expect((await read(short)).batches).toEqual([500, 200])
  expect(await readFixture(short, 1000)).toBeUndefined()
})

test('a mistake at the end of a large fixture is told with its line', async () => {
  const text = `${JSON.stringify({ entities }).slice(0, -2)},\n{"key": "ToDo:1"}]}`
  await expect(fixtureRequest(bodyOf(text))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'fixture:2: entity 1201 (ToDo:1) has the key of entity 1',
  })
})

test('a client that leaves ends the thread', async () => {
  const gone = new AbortController()
  const { batches } = await fixtureRequest(bodyOf(JSON.stringify({ entities })), gone.signal)
  gone.abort()
  const next = async (): Promise<void> => {
    for await (const _ of batches) break
  }
  await expect(next()).rejects.toMatchObject({ code: 'CANCELLED' })
})
