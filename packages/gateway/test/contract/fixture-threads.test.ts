import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readFixture } from '../../src/admin/emulator/fixture-request.ts'
import { requireBuild } from '../support/server-process.ts'

requireBuild()
// The sources have no program for a thread.
const built: string = '../../dist/admin/emulator/fixture-threads.js'
const { withFixture } = (await import(built)) as typeof import('../../src/admin/emulator/fixture-threads.ts')

const entities = Array.from({ length: 1200 }, (_, i) => ({
  key: `ToDo:${i + 1}`,
  properties: { title: `number ${i}` },
}))
const bodyOf = (text: string): Buffer => Buffer.from(JSON.stringify({ project: 'demo', format: 'json', text }))

/** The number of entities in each batch, and the longest text that this thread parses meanwhile. */
async function read(body: Buffer): Promise<{ readonly batches: readonly number[]; readonly parsed: number }> {
  const parse = vi.spyOn(JSON, 'parse')
  const batches: number[] = []
  await withFixture(body, undefined, async (request) => {
    for await (const batch of request.batches) batches.push(batch.length)
    expect(request.count).toBe(batches.reduce((sum, count) => sum + count, 0))
  })
  return { batches, parsed: Math.max(0, ...parse.mock.calls.map(([text]) => text.length)) }
}

test('a large fixture is parsed in a thread, which sends one batch after the other', async () => {
  const body = bodyOf(JSON.stringify({ entities }))
  expect(await read(body)).toEqual({ batches: [500, 500, 200], parsed: 0 })
  const last = { path: [{ kind: 'ToDo', id: 1200n }], hasChildren: false, parent: undefined }
  await withFixture(body, undefined, async (request) => {
    for await (const batch of request.batches) if (batch.length === 200) expect(batch[199]).toMatchObject(last)
  })
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
  await expect(withFixture(bodyOf(text), undefined, async () => {})).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'fixture:2: entity 1201 (ToDo:1) has the key of entity 1',
  })
})

test('a client that leaves ends the thread', async () => {
  const gone = new AbortController()
  const left = withFixture(bodyOf(JSON.stringify({ entities })), gone.signal, async ({ batches }) => {
    gone.abort()
    for await (const _ of batches) break
  })
  await expect(left).rejects.toMatchObject({ code: 'CANCELLED' })
})

describe('threads', () => {
  const body = bodyOf(JSON.stringify({ entities }))
  let [begun, alive, most] = [0, 0, 0]
  const onWorker = (worker: Worker): void => {
    begun++
    most = Math.max(most, ++alive)
    worker.once('exit', () => alive--)
  }
  beforeEach(() => {
    begun = alive = most = 0
    process.on('worker', onWorker)
  })
  afterEach(() => void process.off('worker', onWorker))

  test('of large fixtures run one at a time, in the order of the calls', async () => {
    const order: number[] = []
    const one = (n: number): Promise<void> =>
      withFixture(body, undefined, async ({ batches }) => {
        for await (const batch of batches) if (batch.length === 200) order.push(n)
      })
    await Promise.all([one(1), one(2), one(3)])
    expect({ order, begun, most, alive }).toEqual({ order: [1, 2, 3], begun: 3, most: 1, alive: 0 })
  })

  test('end if the call fails before it takes a batch', async () => {
    const refused = withFixture(body, undefined, () => Promise.reject(new Error('no such database')))
    await expect(refused).rejects.toThrow('no such database')
    expect({ begun, alive }).toEqual({ begun: 1, alive: 0 })
  })

  test('are not begun for a waiting client that leaves', async () => {
    const gone = new AbortController()
    const never = vi.fn()
    await withFixture(body, undefined, async () => {
      const waiting = withFixture(body, gone.signal, never)
      gone.abort()
      await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
    })
    expect({ begun, alive, calls: never.mock.calls }).toEqual({ begun: 1, alive: 0, calls: [] })
  })
})
