import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordedCall } from './read-recording.ts'
import { Timeline, type Turn } from './timeline.ts'

const callAt = (ms: number): RecordedCall => ({ ms }) as RecordedCall

test('timeline/TL1: each call comes equally often over whole rounds, however the time is cut', () => {
  const times = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 100, max: 5000 }), (ms, rounds, slotMs) => {
      const calls = ms.toSorted((a, b) => a - b).map(callAt)
      const timeline = new Timeline(calls)
      const end = timeline.lengthMs * rounds
      const seen = new Map<RecordedCall, number>()
      for (let from = 0; from < end; from += slotMs) {
        const to = Math.min(end, from + slotMs)
        const count = timeline.count(from, to)
        for (let i = 0; i < count; i++) {
          const { call, pass } = timeline.at(from, to, (i + 0.5) / count) as Turn
          expect(pass).toBe(seen.get(call) ?? 0)
          seen.set(call, pass + 1)
        }
      }
      expect([...seen.values()]).toEqual(calls.map(() => rounds))
    }),
  )
})

test('a span without calls has none', () => {
  const timeline = new Timeline([callAt(0), callAt(9000)])
  expect(timeline.count(1000, 5000)).toBe(0)
  expect(timeline.at(1000, 5000, 0.5)).toBeUndefined()
})
