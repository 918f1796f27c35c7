import { openEngine, type RowKey, systemScheduler } from '@sixtables/engine'
import { turnScheduler, VirtualClock } from '@sixtables/engine/testing'
import { expect, test, vi } from 'vitest'
import { movableClock } from '../../controls/emulator-clock.ts'
import { Router } from '../../protocols/router.ts'
import { addTabletRoutes, tickMs, watchOf } from './tablets.ts'

test('streams with the same options are sent one event a tick, made once', async () => {
  const clock = new VirtualClock()
  const engine = await openEngine({ scheduler: clock })
  const heat = vi.spyOn(engine.tablets, 'heat')
  const watch = watchOf(engine, clock)
  // A signal for each stream, as for real responses: with one for all, Node would warn about its many listeners.
  const endings: AbortController[] = []
  const events = (spanMs: number): AsyncGenerator<Buffer> => {
    const ending = new AbortController()
    endings.push(ending)
    return watch(tickMs, { table: undefined, spanMs, rowsMax: undefined }, ending.signal)
  }
  const streams = Array.from({ length: 50 }, () => events(60_000))
  const tick = async (): Promise<ReadonlySet<unknown>> => {
    const next = Promise.all(streams.map((stream) => stream.next()))
    await clock.advance(tickMs)
    return new Set((await next).map(({ value }) => value))
  }
  const first = await tick()
  const second = await tick()
  expect([first.size, second.size]).toEqual([1, 1])
  expect(first).not.toEqual(second)
  expect(heat).toHaveBeenCalledTimes(2)
  const other = events(30_000)
  expect([...second]).not.toContain((await other.next()).value)
  for (const ending of endings) ending.abort()
  await engine.close()
})

test('the event of many tablets is made in several turns', async () => {
  let turns = 0
  const engine = await openEngine({ scheduler: turnScheduler(() => turns++) })
  for (let i = 0; i < 400; i++) engine.tablets.split('Entities', `e${1000 + i}` as RowKey)
  const ending = new AbortController()
  const options = { table: undefined, spanMs: undefined, rowsMax: undefined }
  const event = await watchOf(engine, systemScheduler)(tickMs, options, ending.signal).next()
  expect(turns).toBeGreaterThanOrEqual(3)
  const { report } = JSON.parse(String(event.value).slice('data: '.length))
  expect(report.tablets).toEqual(JSON.parse(JSON.stringify(engine.tablets.report().tablets)))
  ending.abort()
  await engine.close()
})

test('a stream does not move a clock that stands still', async () => {
  const engine = await openEngine({ scheduler: movableClock(Date.UTC(2030, 0)) })
  const router = new Router()
  addTabletRoutes(router, engine)
  const ending = new AbortController()
  const request = {
    query: new URLSearchParams({ interval: '100' }),
    headers: {},
    parameters: {},
    signal: ending.signal,
  }
  const answer = await router.find('GET', '/emulator/watch')?.route({ ...request, body: Buffer.alloc(0) })
  if (answer === undefined || !('events' in answer)) throw new Error('this route has no events')
  const before = engine.context().clock.nowMicros()
  const events = answer.events(ending.signal)[Symbol.asyncIterator]()
  for (let i = 0; i < 3; i++) await events.next()
  expect(engine.context().clock.nowMicros()).toBe(before)
  ending.abort()
  await engine.close()
})
