import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Admission, admissionLimitsDefault } from './admission.ts'

const lookMs = 5000
const looksMax = admissionLimitsDefault.unreadMsMax / lookMs

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const ring = (): void => void vi.advanceTimersByTime(lookMs)

async function look(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    ring()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('an answer that lies unread', () => {
  test('is cut off after its time, and not before', async () => {
    const admission = new Admission(admissionLimitsDefault)
    const cut = vi.fn()
    admission.hold(1, cut)
    await look(looksMax)
    expect(cut).not.toHaveBeenCalled()
    await look(1)
    expect(cut).toHaveBeenCalledTimes(1)
    admission.close()
  })

  test('is not cut off for a time in which the process stood still', async () => {
    const admission = new Admission(admissionLimitsDefault)
    const cut = vi.fn()
    admission.hold(1, cut)
    const wakesAt = performance.now() + 10 * admissionLimitsDefault.unreadMsMax
    vi.spyOn(performance, 'now').mockImplementation(() => wakesAt)
    await look(looksMax)
    expect(cut).not.toHaveBeenCalled()
    admission.close()
  })

  test('is not cut off when what says that it was read is there to be heard', async () => {
    const admission = new Admission(admissionLimitsDefault)
    const cut = vi.fn()
    const unread = admission.hold(1, cut)
    await look(looksMax)
    ring()
    admission.read(unread)
    await look(1)
    expect(cut).not.toHaveBeenCalled()
    expect(admission.unreadBytes).toBe(0)
    admission.close()
  })
})
