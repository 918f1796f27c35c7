import { openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test, vi } from 'vitest'
import { tickMs, Watch } from './watch.ts'

test('watch/W1: streams with the same options are sent one event a tick, made once', async () => {
  const clock = new VirtualClock()
  const engine = await openEngine({ scheduler: clock })
  const heat = vi.spyOn(engine.tablets, 'heat')
  const watch = new Watch(engine, clock)
  const ending = new AbortController()
  const options = { table: undefined, spanMs: 60_000, rowsMax: undefined }
  const streams = Array.from({ length: 50 }, () => watch.events(tickMs, { ...options }, ending.signal))
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
  const other = watch.events(tickMs, { ...options, spanMs: 30_000 }, ending.signal)
  expect([...second]).not.toContain((await other.next()).value)
  ending.abort()
  await engine.close()
})
