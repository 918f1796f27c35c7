import { expect, test } from 'vitest'
import { effectInWords, placeInWords, timesInWords } from './fault-words.ts'

test('a fault is told by its calls, its effect and its times', () => {
  const fault = {
    method: ['commit', 'lookup'],
    database: '',
    kind: 'ToDo',
    code: 'ABORTED',
    latencyMs: 100,
    skip: 2,
    share: 0.5,
  } as const
  expect(placeInWords(fault)).toBe('commit, lookup; database (default); kind ToDo')
  expect(effectInWords(fault)).toBe('ABORTED after 100 ms')
  expect(timesInWords(fault)).toBe('after 2 calls, for 50 % of calls (seed 1)')
  expect([placeInWords({ latencyMs: 5 }), effectInWords({ latencyMs: 5 }), timesInWords({})]).toEqual([
    'all calls',
    'delay of 5 ms',
    'always',
  ])
  expect(placeInWords({ holdApply: true })).toBe('commit')
  expect(timesInWords({ share: 0.07 })).toBe('for 7 % of calls (seed 1)')
})
