import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { provenValue, withProof } from './row-proof.ts'

const bytes = fc.uint8Array({ maxLength: 80 })

describe('a row with a checksum', () => {
  it('has the value that was stored under its key', () => {
    fc.assert(
      fc.property(bytes, bytes, (key, value) => {
        expect([...(provenValue(key, withProof(key, value)) ?? [])]).toEqual([...value])
      }),
    )
  })

  it('row-proof/P1: has no value when a bit of key or value has changed, or its end is missing', () => {
    const changes = fc.record({ part: fc.constantFrom('key', 'stored'), at: fc.nat(), bit: fc.nat({ max: 7 }) })
    const long = fc.uint8Array({ minLength: 8, maxLength: 80 })
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), long, changes, (key, value, { part, at, bit }) => {
        const row = { key: key.slice(), stored: Uint8Array.from(withProof(key, value)) }
        const changed = part === 'key' ? row.key : row.stored
        const place = at % changed.length
        changed[place] = (changed[place] ?? 0) ^ (1 << bit)
        expect(provenValue(row.key, row.stored)).toBeUndefined()
        const cut = withProof(key, value).subarray(0, Math.max(8, row.stored.length - 1 - (at % 4)))
        expect(provenValue(key, cut)).toBeUndefined()
      }),
    )
  })

  it('is none of fewer than 8 bytes, which are stored as they are', () => {
    const value = Uint8Array.of(1, 2, 3, 4, 5, 6, 7)
    expect(withProof(Uint8Array.of(1), value)).toBe(value)
    expect(withProof(Uint8Array.of(1), new Uint8Array(8))).toHaveLength(12)
  })
})
