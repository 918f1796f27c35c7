import { expect, test } from 'vitest'
import { type CallReport, Calls } from '../../calls/calls.ts'
import { callsMax, RequestRecorder } from '../../calls/request-recorder.ts'
import { Router } from '../../protocols/router.ts'
import { addRequestRoutes, type RequestEvent } from './request-routes.ts'

function report(method: string): CallReport {
  const figures = { beganAtMs: 0, durationMs: 1, rowsRead: 1, rowsWritten: 0 }
  return { method, protocol: 'grpc', code: 'OK', facts: undefined, trace: undefined, ...figures }
}

test('calls that were passed over are told with the next event, also if calls that do not match came between', async () => {
  const calls = new Calls()
  const recorder = new RequestRecorder(calls)
  const router = new Router()
  addRequestRoutes(router, recorder, calls)
  const { route } = router.find('GET', '/emulator/requests/events') ?? {}
  const query = new URLSearchParams({ method: 'lookup' })
  const ending = new AbortController()
  const { signal } = ending
  const answer = await route?.({ query, body: Buffer.alloc(0), headers: {}, parameters: {}, signal })
  if (answer === undefined || !('events' in answer)) throw new Error('the route answers no events')
  const events = answer.events(signal)[Symbol.asyncIterator]()
  const next = async (): Promise<RequestEvent> => JSON.parse(String((await events.next()).value).slice('data: '.length))
  expect(await next()).toEqual({ requests: [], last: 0 })
  for (let i = 0; i < callsMax + 3; i++) recorder.takes()
  const later = next()
  recorder.add(report('Commit'))
  await new Promise((resolve) => setImmediate(resolve))
  recorder.add(report('Lookup'))
  expect(await later).toMatchObject({ requests: [{ id: 2, method: 'lookup' }], skipped: 3 })
  ending.abort()
  await events.next()
})
