import { describe, expect, it } from 'vitest'
import { KeyFilter } from './key-filter.ts'

const keyOf = (i: number): string => `E\x00project\x00\x01Task\x00\x01n${String(i).padStart(7, '0')}\x00\x01\x00`

describe('a filter of keys', () => {
  it('may have every key that was added, and few others, over several sizes', () => {
    const filter = new KeyFilter(1 << 20)
    const count = 200_000
    for (let i = 0; i < count; i++) filter.add(keyOf(i))
    let missing = 0
    let wrong = 0
    for (let i = 0; i < count; i++) {
      if (!filter.mayHave(keyOf(i))) missing++
      if (filter.mayHave(keyOf(count + i))) wrong++
    }
    expect(missing).toBe(0)
    expect(wrong / count).toBeLessThan(0.05)
    expect(wrong).toBeGreaterThan(0)
  })

  it('may have every key when it would need more memory, until it is cleared', () => {
    const filter = new KeyFilter(64 << 10)
    expect(filter.mayHave('other')).toBe(false)
    for (let i = 0; i < 80_000; i++) filter.add(keyOf(i))
    expect(filter.mayHave('other')).toBe(true)
    filter.clear()
    expect(filter.mayHave(keyOf(1))).toBe(false)
  })

  it('takes a key twice for one', () => {
    const filter = new KeyFilter(64 << 10)
    for (let i = 0; i < 100_000; i++) filter.add('one')
    expect(filter.mayHave('one')).toBe(true)
    expect(filter.mayHave('other')).toBe(false)
  })
})
