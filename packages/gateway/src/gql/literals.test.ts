import { expect, test, vi } from 'vitest'
import { parseInt64 } from './literals.ts'

const zeros = '0'.repeat(1000)

test.each<[string, bigint | undefined]>([
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['0', 0n],
  ['-0', 0n],
  ['+07', 7n],
  [`-${zeros}7`, -7n],
  ['9223372036854775808', undefined],
  ['-9223372036854775809', undefined],
  [`+1${zeros}`, undefined],
  [`-1${zeros}`, undefined],
])('of the integer %s at most 20 digits are read', (text, value) => {
  const read = vi.spyOn(globalThis, 'BigInt')
  expect(parseInt64(text)).toBe(value)
  for (const [digits] of read.mock.calls) expect(String(digits).length).toBeLessThan(22)
})
