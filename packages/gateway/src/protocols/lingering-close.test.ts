import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { dropThenClose, lingerMs } from './http-exchange.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('a request that never ends is closed when the time is over, once', () => {
  const incoming = new PassThrough()
  const close = vi.fn()
  dropThenClose(incoming, close)
  incoming.write('more')
  vi.advanceTimersByTime(lingerMs - 1)
  expect(close).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  incoming.destroy()
  vi.advanceTimersByTime(lingerMs)
  expect(close).toHaveBeenCalledTimes(1)
})

test.each(['end', 'destroy'] as const)('a request is closed at once at its %s', async (how) => {
  const incoming = new PassThrough()
  const closed = new Promise<void>((resolve) => dropThenClose(incoming, resolve))
  incoming[how]()
  await closed
  expect(vi.getTimerCount()).toBe(0)
})
