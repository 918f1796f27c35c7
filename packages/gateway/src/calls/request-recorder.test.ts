import { expect, test } from 'vitest'
import { CallTrace } from './call-trace.ts'
import { type CallReport, Calls } from './calls.ts'
import { callsMax, RequestRecorder } from './request-recorder.ts'

function report(bytes: number): CallReport {
  const trace = new CallTrace(true)
  trace.request = { bytes: Buffer.alloc(bytes), size: bytes, cut: undefined }
  const figures = { beganAtMs: 0, durationMs: 1, rowsRead: 1, rowsWritten: 0 }
  return { method: 'Lookup', protocol: 'grpc', code: 'OK', facts: undefined, trace, ...figures }
}

const all = (): boolean => true

test('request-recorder/RR1: the newest calls are kept, and the oldest of them lose their messages first', () => {
  const recorder = new RequestRecorder(new Calls(), 100_000)
  for (let i = 0; i < callsMax + 20; i++) recorder.add(report(9000))
  const ids = recorder.newest(all, 2000).map(({ id }) => id)
  expect(ids).toHaveLength(callsMax)
  expect([ids[0], ids.at(-1)]).toEqual([callsMax + 20, 21])
  const detailed = ids.filter((id) => recorder.find(id)?.detail !== undefined)
  expect(detailed, 'of 9,000 bytes each, and what belongs to it').toEqual(ids.slice(0, 9))
  expect(recorder.find(20)).toBeUndefined()
  expect(recorder.find(callsMax + 21)).toBeUndefined()
})

test('request-recorder/RR1: a call that is larger than the bound has a summary and no messages, and the next one has its own again', () => {
  const recorder = new RequestRecorder(new Calls(), 100_000)
  recorder.add(report(200_000))
  expect(recorder.find(1)).toMatchObject({ summary: { id: 1 }, detail: undefined })
  recorder.add(report(10))
  expect(recorder.find(2)?.detail?.request?.size).toBe(10)
})

test('request-recorder/RR2: two watchers are one observer, which leaves with the last of them', () => {
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

test('a reader is woken by the next call, and by its end', async () => {
  const recorder = new RequestRecorder(new Calls())
  const stop = new AbortController()
  const woken = recorder.after(0, stop.signal)
  recorder.add(report(1))
  await woken
  const ended = recorder.after(1, stop.signal)
  stop.abort()
  await ended
})
