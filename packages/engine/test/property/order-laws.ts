/** The laws that every order-preserving code obeys, as one check over an arbitrary. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { invert } from '../../src/encoding/bytes.ts'

/** Order of byte strings: the one of row keys in a store. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export interface CodeUnderLaw<T> {
  readonly values: fc.Arbitrary<T>
  readonly encode: (value: T) => string
  readonly compare: (a: T, b: T) => number
  readonly numRuns?: number
}

/**
 * Checks, for pairs of values:
 *
 *   order        sign(compare(code a, code b)) = sign(compare(a, b)); so equal values have equal codes
 *   prefix-free  neither code starts with the other unless they are equal
 *   join         what follows a code never changes the order of different codes
 *   inversion    inverted codes stand in the opposite order, and inverting twice changes nothing
 */
export function holdsFor<T>({ values, encode, compare, numRuns = 300 }: CodeUnderLaw<T>): void {
  fc.assert(
    fc.property(
      values,
      values,
      fc.constantFrom('', '\x00', '\xff'),
      fc.constantFrom('', '\x00', '\xff'),
      (a, b, x, y) => {
        const [codeA, codeB] = [encode(a), encode(b)]
        const sign = Math.sign(compare(a, b))
        expect(compareText(codeA, codeB)).toBe(sign)
        expect(compareText(invert(codeA), invert(codeB))).toBe(sign === 0 ? 0 : -sign)
        expect(invert(invert(codeA))).toBe(codeA)
        expect(encode(a)).toBe(codeA)
        if (sign === 0) return
        expect(codeA.startsWith(codeB) || codeB.startsWith(codeA)).toBe(false)
        expect(compareText(codeA + x, codeB + y)).toBe(sign)
        expect(compareText(invert(codeA) + x, invert(codeB) + y)).toBe(-sign)
      },
    ),
    { numRuns },
  )
}
