import { openEngine } from '@sixtables/engine'
import { afterEach, expect, test } from 'vitest'
import { Call } from '../../call.ts'
import { Calls } from '../../calls/calls.ts'
import { Router } from '../../protocols/router.ts'
import { addOverviewRoute, type OverviewEvent } from './overview.ts'

const engine = await openEngine()
afterEach(() => engine.close())

test('calls are counted by method while a stream is open, and not observed after it', async () => {
  const calls = new Calls()
  const router = new Router()
  addOverviewRoute(router, engine, calls)
  const route = router.find('GET', '/emulator/overview')?.route
  const { signal } = new AbortController()
  const request = {
    query: new URLSearchParams('interval=100'),
    body: Buffer.alloc(0),
    parameters: {},
    headers: {},
    signal,
  }
  const answer = await route?.(request)
  if (answer === undefined || !('events' in answer)) throw new Error('there are no events')
  expect(calls.any, 'before a reader comes').toBe(false)
  const reading = new AbortController()
  const events = answer.events(reading.signal)[Symbol.asyncIterator]()
  const next = async (): Promise<OverviewEvent> => {
    const { value } = await events.next()
    return JSON.parse(String(value).replace('data: ', ''))
  }
  expect(await next()).toMatchObject({ seconds: 0, methods: {}, codes: {}, waitingRecords: 0, findings: [] })
  const call = (method: string, code: 'OK' | 'ABORTED'): void => {
    const one = new Call({ clock: engine.context().clock })
    calls.begin(one)
    calls.end(one, { method, protocol: 'grpc', code })
  }
  for (const code of ['OK', 'OK', 'ABORTED'] as const) call('Commit', code)
  call('RunQuery', 'OK')
  const counted = await next()
  expect(counted.methods).toMatchObject({ commit: { calls: 3, errors: 1 }, runQuery: { calls: 1, errors: 0 } })
  expect(counted.all).toMatchObject({ calls: 4, errors: 1 })
  expect(counted.codes).toEqual({ ABORTED: 1 })
  expect(counted.seconds).toBeGreaterThan(0)
  expect(await next(), 'each event counts anew').toMatchObject({ methods: {}, codes: {} })
  reading.abort()
  expect((await events.next()).done).toBe(true)
  expect(calls.any).toBe(false)
})
