import { expect, test } from 'vitest'
import { SleptTime } from '../../test/support/slept-time.ts'
import { CallError, grpcCodes } from './call-error.ts'
import { withRetries } from './retry.ts'

const unavailable = new CallError(grpcCodes.UNAVAILABLE, 'gone')
const late = new CallError(grpcCodes.DEADLINE_EXCEEDED, 'late')

test('the times between attempts spread up to 5 ms, then twice as much each time, up to 640 ms', async () => {
  const time = new SleptTime()
  await expect(withRetries(time, 10_000, () => Promise.reject(unavailable))).rejects.toBe(unavailable)
  expect(time.slept.length).toBeGreaterThan(20)
  for (const [index, slept] of time.slept.entries()) expect(slept).toBeLessThan(Math.min(5 * 2 ** index, 640))
  expect(Math.max(...time.slept)).toBeGreaterThan(320)
})

test('an attempt that ran out of time is followed by one that may take twice as long', async () => {
  const time = new SleptTime()
  const given: number[] = []
  await expect(
    withRetries(time, 10_000, async ({ timeoutMs }) => {
      given.push(timeoutMs)
      await time.sleep(timeoutMs)
      throw late
    }),
  ).rejects.toBe(late)
  expect(given.slice(0, 2)).toEqual([2000, 4000])
  expect(given.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(10_001)
})

test('an attempt that brought something sets patience and pauses back', async () => {
  const time = new SleptTime()
  const given: number[] = []
  await withRetries(time, 100_000, async ({ timeoutMs }, progress) => {
    given.push(timeoutMs)
    if (given.length === 6) return
    if (given.length === 4) progress()
    throw late
  })
  expect(given).toEqual([2000, 4000, 8000, 16_000, 2000, 4000])
})

test('the last answer is the error, also when attempts after it ran out of time', async () => {
  for (const errors of [
    [unavailable, late, late],
    [late, unavailable],
    [late, late],
  ]) {
    const time = new SleptTime()
    let attempts = 0
    const attempt = (): Promise<never> => {
      if (++attempts === errors.length) void time.sleep(10_000)
      return Promise.reject(errors[attempts - 1])
    }
    await expect(withRetries(time, 10_000, attempt)).rejects.toBe(errors.includes(unavailable) ? unavailable : late)
  }
})

test('a refusal, and an error of another kind, end at once', async () => {
  for (const error of [new CallError(grpcCodes.INVALID_ARGUMENT, 'no'), new Error('bug')]) {
    const time = new SleptTime()
    await expect(withRetries(time, 10_000, () => Promise.reject(error))).rejects.toBe(error)
    expect(time.slept).toEqual([])
  }
})

test('retry/RY1: a machine that is suspended in a pause sends nothing when it goes on', async () => {
  const time = new SleptTime()
  let attempts = 0
  const sleep = (): Promise<void> => time.sleep(3 * 3_600_000)
  const suspended = { attemptMs: 2000, random: () => 0.5, stopwatch: () => time.stopwatch(), sleep }
  const attempt = (): Promise<never> => {
    attempts++
    return Promise.reject(unavailable)
  }
  await expect(withRetries(suspended, 10_000, attempt)).rejects.toBe(unavailable)
  expect(attempts).toBe(1)
})
