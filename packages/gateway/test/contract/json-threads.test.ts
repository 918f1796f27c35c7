import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Worker } from 'node:worker_threads'
import { type DescMessage, fromJson, toBinary } from '@bufbuild/protobuf'
import { systemScheduler } from '@sixtables/engine'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Call } from '../../src/call.ts'
import { registry } from '../../src/protocols/descriptors.ts'
import { requestFromJson } from '../../src/protocols/json-codec.ts'
import type { ConversionTask } from '../../src/protocols/json-threads.ts'
import { requireBuild } from '../support/server-process.ts'

requireBuild()
// The sources have no program for a thread.
const dist: string = '../../dist'
const { convertInThread } = (await import(
  `${dist}/protocols/json-threads.js`
)) as typeof import('../../src/protocols/json-threads.ts')
const { endSpareThreads } = (await import(`${dist}/threads.js`)) as typeof import('../../src/threads.ts')
const { jsonForm } = (await import(
  `${dist}/protocols/wire-form.js`
)) as typeof import('../../src/protocols/wire-form.ts')

const mutations = Array.from({ length: 5000 }, (_, i) => ({ delete: { path: [{ kind: 'K', name: `ü ${i}` }] } }))
const body = Buffer.from(JSON.stringify({ mutations }))
const results = Array.from({ length: 5000 }, (_, i) => ({
  key: { path: [{ kind: 'K', name: `ü ${i}` }] },
  version: '7',
}))

const type = registry.getMessage('google.datastore.v1.CommitResponse') as DescMessage
const answer = Buffer.from(toBinary(type, fromJson(type, { mutationResults: results })))

const call = (signal?: AbortSignal): Call => {
  const made = new Call({ clock: systemScheduler })
  signal?.addEventListener('abort', () => made.cancel())
  return made
}
const commit = (bytes: Buffer): ConversionTask => ({ conversion: 'requestFromJson', method: 'Commit', bytes })
const converted = (bytes: Buffer, signal?: AbortSignal) => convertInThread?.(commit(bytes), call(signal))

let [begun, alive] = [0, 0]
const onWorker = (worker: Worker): void => {
  begun++
  alive++
  worker.once('exit', () => alive--)
}
beforeEach(() => {
  begun = alive = 0
  process.on('worker', onWorker)
})
afterEach(async () => {
  await endSpareThreads()
  process.off('worker', onWorker)
  vi.useRealTimers()
})

test('a large body and a large answer are converted in one thread, as they are here', async () => {
  const here = vi.spyOn(JSON, 'parse')
  const read = await jsonForm.request('Commit', body, call())
  const printed = await jsonForm.answer('Commit', answer, call())
  expect(here).not.toHaveBeenCalled()
  expect(begun).toBe(1)
  expect(read.equals(requestFromJson('Commit', body))).toBe(true)
  expect(JSON.parse(String(printed))).toMatchObject({ mutationResults: results })
})

test('a small body is converted here', async () => {
  await jsonForm.request('Commit', Buffer.from(JSON.stringify({ mutations: mutations.slice(0, 500) })), call())
  expect(begun).toBe(0)
})

test('the errors are those of the conversion, and the thread goes on', async () => {
  const wrong = Buffer.from(JSON.stringify({ mutations, mode: 'NON' }))
  const error = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('use TRANSACTIONAL or NON_TRANSACTIONAL') }
  await expect(converted(wrong)).rejects.toMatchObject(error)
  await expect(converted(body.subarray(1))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await converted(body)
  expect(begun).toBe(1)
})

test('a thread without a task for a minute ends, and with it its memory', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await converted(body)
  vi.advanceTimersByTime(59_000)
  await converted(body)
  vi.advanceTimersByTime(59_000)
  await converted(body)
  expect(begun).toBe(1)
  vi.advanceTimersByTime(60_000)
  await vi.waitFor(() => expect(alive).toBe(0), { timeout: 30_000 })
  await converted(body)
  expect({ begun, alive }).toEqual({ begun: 2, alive: 1 })
})

describe('of several', () => {
  test('one is converted at a time, and one that is given up while it waits is not begun', async () => {
    const gone = new AbortController()
    const all = [converted(body), converted(body, gone.signal), converted(body)]
    gone.abort()
    const ended = await Promise.allSettled(all)
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(begun).toBe(1)
  })

  test('a short one and a long one each have a thread, also the next ones', async () => {
    const long = Buffer.from(JSON.stringify({ mutations: Array.from({ length: 6 }, () => mutations).flat() }))
    for (const _ of [1, 2]) {
      await Promise.all([converted(long), converted(body)])
      expect({ begun, alive }).toEqual({ begun: 2, alive: 2 })
    }
  })

  test('one that is given up while it is converted ends its thread', async () => {
    const gone = new AbortController()
    const first = converted(body, gone.signal)
    await vi.waitFor(() => expect(begun).toBe(1))
    gone.abort()
    await expect(first).rejects.toMatchObject({ code: 'CANCELLED' })
    await converted(body)
    expect({ begun, alive }).toEqual({ begun: 2, alive: 1 })
  })
})

test('a converted message does not stay in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const made = async (): Promise<WeakRef<object>> => new WeakRef((await converted(body)) as object)
  const message = await made()
  await vi.waitFor(() => {
    collect()
    expect(message.deref() === undefined).toBe(true)
  })
})
