import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

describe('a virtual clock', () => {
  it('wakes any sleepers in the order of their times, equals in the order in which they fell asleep', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 }), async (sleeps) => {
        const clock = new VirtualClock()
        const woken: number[] = []
        for (const [i, ms] of sleeps.entries()) void clock.sleep(ms).then(() => woken.push(i))
        await clock.advance(5)
        const expected = sleeps.map((ms, i) => ({ ms, i })).sort((a, b) => a.ms - b.ms || a.i - b.i)
        expect(woken).toEqual(expected.map(({ i }) => i))
      }),
      { numRuns: 50 },
    )
  })

  it('stands still while work outside goes on, and while what came of it holds it again', async () => {
    const clock = new VirtualClock(0n)
    const seen: [string, bigint][] = []
    const outside = (): Promise<void> => {
      const work = new Promise<void>((done) => setTimeout(done, 1))
      clock.hold(work)
      return work
    }
    void clock.sleep(1).then(async () => {
      await outside()
      await outside()
      seen.push(['outside', clock.nowMicros()])
    })
    void clock.sleep(2).then(() => seen.push(['next', clock.nowMicros()]))
    await clock.advance(10)
    expect(seen).toEqual([
      ['outside', 1000n],
      ['next', 2000n],
    ])
  })

  it('shows each sleeper the time for which it asked', async () => {
    const clock = new VirtualClock(0n)
    const seen: bigint[] = []
    const sleeper = async (): Promise<void> => {
      for (const ms of [3, 1, 2]) {
        await clock.sleep(ms)
        seen.push(clock.nowMicros())
      }
    }
    void sleeper()
    await clock.advance(10)
    expect([seen, clock.nowMicros()]).toEqual([[3000n, 4000n, 6000n], 10_000n])
  })

  it('lets a sleeper go when it is aborted, and holds on to no signal when it has woken', async () => {
    const clock = new VirtualClock()
    const listening = new Set<unknown>()
    const controller = new AbortController()
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (type: string, listener: (event: Event) => void) => {
      listening.add(listener)
      add(type, listener)
    }
    signal.removeEventListener = (type: string, listener: (event: Event) => void) => {
      listening.delete(listener)
      remove(type, listener)
    }
    const woken = clock.sleep(1, signal)
    const aborted = clock.sleep(5, signal)
    await clock.advance(2)
    await woken
    expect(listening.size).toBe(1)
    controller.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await clock.advance(10)
    await expect(clock.sleep(1, signal)).rejects.toThrow('enough')
  })
})
