import { expect, test } from 'vitest'
import { CallTrace } from './call-facts.ts'
import { type CallReport, Calls } from './calls.ts'
import { callsMax, RequestRecorder } from './request-recorder.ts'

function report(bytes: number): CallReport {
  const trace = new CallTrace(true)
  trace.request = new Uint8Array(bytes)
  const figures = { beganAtMs: 0, durationMs: 1, rowsRead: 1, rowsWritten: 0 }
  return { method: 'Lookup', protocol: 'grpc', code: 'OK', facts: undefined, trace, ...figures }
}

test('the newest calls are kept, a thousand of small ones, and of large ones those that there is room for', () => {
  const recorder = new RequestRecorder(new Calls(), 1_000_000)
  for (let i = 0; i < callsMax + 20; i++) recorder.add(report(10))
  const ids = () => recorder.newest(undefined, 2000).requests.map(({ id }) => id)
  expect([ids().length, ids()[0], ids().at(-1)]).toEqual([callsMax, callsMax + 20, 21])
  expect(recorder.find(20)).toBeUndefined()
  expect(recorder.find(21)).toMatchObject({ summary: { id: 21, method: 'lookup' }, detail: { request: { size: 10 } } })
  expect(recorder.find(callsMax + 21)).toBeUndefined()
  for (let i = 0; i < 40; i++) recorder.add(report(60_000))
  expect(ids()[0]).toBe(callsMax + 60)
  expect(ids().length).toBe(16)
})

test('a call that is larger than all the room has a summary and no messages', () => {
  const recorder = new RequestRecorder(new Calls(), 10_000)
  recorder.add(report(20_000))
  expect(recorder.find(1)).toMatchObject({ summary: { id: 1 }, detail: { request: undefined } })
})

test('newer calls than one that is known are counted beyond the limit, with a filter and without', () => {
  const recorder = new RequestRecorder(new Calls())
  for (let i = 0; i < 10; i++) recorder.add(report(1))
  const of = (matches: ((request: { readonly id: number }) => boolean) | undefined) => {
    const { requests, more } = recorder.newest(matches, 3, { after: 2 })
    return [requests.map(({ id }) => id), more]
  }
  expect(of(undefined)).toEqual([[10, 9, 8], 5])
  expect(of(({ id }) => id % 2 === 0)).toEqual([[10, 8, 6], 1])
  expect(recorder.newest(undefined, 2, { before: 5 }).requests.map(({ id }) => id)).toEqual([4, 3])
})

test('a burst is kept whole, and of more calls those are counted that there is no room for', () => {
  const recorder = new RequestRecorder(new Calls())
  expect(Array.from({ length: callsMax + 5 }, () => recorder.takes()).filter((isTaken) => isTaken)).toHaveLength(
    callsMax,
  )
  expect(recorder.passed).toBe(5)
})

test('two watchers are one observer, which leaves with the last of them', () => {
  const calls = new Calls()
  const recorder = new RequestRecorder(calls)
  const [first, second] = [recorder.watch(), recorder.watch()]
  first()
  first()
  expect(calls.any).toBe(true)
  second()
  expect(calls.any).toBe(false)
  expect(recorder.isRecording).toBe(false)
})

test('a reader is woken by the next call, by its end, and after a silence', async () => {
  const recorder = new RequestRecorder(new Calls())
  const stop = new AbortController()
  expect(await recorder.after(0, stop.signal, 1)).toBe(false)
  const woken = recorder.after(0, stop.signal, 60_000)
  recorder.add(report(1))
  expect(await woken).toBe(true)
  const ended = recorder.after(1, stop.signal, 60_000)
  stop.abort()
  expect(await ended).toBe(false)
})
