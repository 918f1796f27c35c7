/**
 * idOf is one-to-one on 1 … size, and originalOf takes it back.
 * nameOf is one-to-one on all 64-bit ids, and originalOfName takes it back.
 * The same secret and size give the same shuffle; another secret another one.
 *
 * And its use: neighbours of the original order end up far apart, as numbers and as names.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { KeyPermutation } from '../../src/ids/key-permutation.ts'

const secrets = fc.string({ minLength: 1, maxLength: 20 })
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
/** Sizes of all magnitudes; a power of two and its neighbours are where a width is chosen wrongly. */
const sizes = fc.oneof(
  fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
  fc
    .tuple(fc.integer({ min: 1, max: 62 }), fc.integer({ min: -1, max: 1 }))
    .map(([bits, by]) => 2n ** BigInt(bits) + BigInt(by)),
)

/** Chi-square of counts against an even spread. */
function chiSquare(counts: readonly number[]): number {
  const fair = counts.reduce((sum, n) => sum + n, 0) / counts.length
  return counts.reduce((sum, n) => sum + (n - fair) ** 2 / fair, 0)
}

describe('the key permutation', () => {
  test('every small range is shuffled onto itself', () => {
    fc.assert(
      fc.property(secrets, fc.integer({ min: 1, max: 300 }), (secret, size) => {
        const permutation = new KeyPermutation({ secret, size: BigInt(size) })
        const shuffled = Array.from({ length: size }, (_, i) => permutation.idOf(BigInt(i + 1)))
        const inOrder = [...shuffled].sort((a, b) => (a < b ? -1 : 1))
        expect(inOrder).toEqual(Array.from({ length: size }, (_, i) => BigInt(i + 1)))
        expect(shuffled.map((id) => permutation.originalOf(id))).toEqual(inOrder)
      }),
      { numRuns: runs(100) },
    )
  })

  test('an id of any range stays in it and comes back', () => {
    fc.assert(
      fc.property(secrets, sizes, fc.bigInt({ min: 0n, max: 2n ** 63n }), (secret, size, at) => {
        const permutation = new KeyPermutation({ secret, size })
        const original = (at % size) + 1n
        const id = permutation.idOf(original)
        return id >= 1n && id <= size && permutation.originalOf(id) === original
      }),
      { numRuns: runs(500) },
    )
  })

  test('a name is 13 characters and gives its id back; different ids have different names', () => {
    fc.assert(
      fc.property(secrets, int64, int64, (secret, a, b) => {
        const permutation = new KeyPermutation({ secret, size: 10n })
        const name = permutation.nameOf(a)
        expect(name).toMatch(/^[0-9a-v]{13}$/)
        expect(permutation.originalOfName(name)).toBe(a)
        expect(permutation.nameOf(b) === name).toBe(a === b)
      }),
      { numRuns: runs(500) },
    )
  })

  test('the shuffle of a secret never changes between versions', () => {
    const permutation = new KeyPermutation({ secret: 'move to names', size: 1_000_000n })
    expect([1n, 2n, 3n, 1_000_000n].map((id) => permutation.idOf(id))).toMatchInlineSnapshot(`
      [
        273401n,
        433367n,
        528880n,
        438940n,
      ]
    `)
    expect([1n, 2n, -1n].map((id) => permutation.nameOf(id))).toMatchInlineSnapshot(`
      [
        "0qci7cre6ecmb",
        "5qjdj6ql4cop1",
        "0ko9v53jckitd",
      ]
    `)
  })

  test('two secrets shuffle differently', () => {
    fc.assert(
      fc.property(secrets, secrets, (a, b) => {
        fc.pre(a !== b)
        const [one, other] = [a, b].map((secret) => new KeyPermutation({ secret, size: 2n ** 40n }))
        const ids = Array.from({ length: 8 }, (_, i) => BigInt(i + 1))
        expect(ids.map((id) => one?.idOf(id))).not.toEqual(ids.map((id) => other?.idOf(id)))
      }),
      { numRuns: runs(100) },
    )
  })

  test.each([1_000_000n, 2n ** 31n, 4_000_000_007n, 2n ** 52n, 2n ** 62n + 3n])(
    'the first 6,400 ids of 1 … %s spread evenly over 64 ranges, as numbers and as names',
    (size) => {
      for (const secret of ['a', 'b', 'c', 'd']) {
        const permutation = new KeyPermutation({ secret, size })
        const byNumber = new Array<number>(64).fill(0)
        const byName = new Array<number>(16).fill(0)
        for (let original = 1n; original <= 6400n; original++) {
          const range = Number(((permutation.idOf(original) - 1n) * 64n) / size)
          byNumber[range] = (byNumber[range] ?? 0) + 1
          const first = Number.parseInt(permutation.nameOf(original).charAt(0), 32)
          byName[first] = (byName[first] ?? 0) + 1
        }
        // 63 and 15 degrees of freedom: an even spread passes these bounds but once in about 10^7.
        expect(chiSquare(byNumber)).toBeLessThan(135)
        expect(chiSquare(byName)).toBeLessThan(60)
      }
    },
  )

  test('one changed bit of an id changes about half of the bits of its image', () => {
    const permutation = new KeyPermutation({ secret: 'avalanche', size: 2n ** 62n })
    let changed = 0
    let flips = 0
    for (let original = 1n; original <= 200n; original++) {
      for (let bit = 0n; bit < 61n; bit++) {
        const difference = permutation.idOf(original) ^ permutation.idOf(original ^ (1n << bit) || 1n)
        changed += [...difference.toString(2)].filter((b) => b === '1').length
        flips += 62
      }
    }
    expect(changed / flips).toBeGreaterThan(0.48)
    expect(changed / flips).toBeLessThan(0.52)
  })

  test('a wrong argument is refused', () => {
    const permutation = new KeyPermutation({ secret: 's', size: 10n })
    for (const id of [0n, 11n, -1n]) {
      expect(() => permutation.idOf(id)).toThrow('1 to 10')
      expect(() => permutation.originalOf(id)).toThrow('1 to 10')
    }
    expect(() => permutation.nameOf(2n ** 63n)).toThrow('64-bit')
    for (const name of ['', '0', 'zzzzzzzzzzzzz', 'vvvvvvvvvvvvv', '00000000000000']) {
      expect(() => permutation.originalOfName(name)).toThrow('is no name')
    }
    expect(() => new KeyPermutation({ secret: '', size: 10n })).toThrow('secret')
    expect(() => new KeyPermutation({ secret: 's', size: 0n })).toThrow('size')
    expect(() => new KeyPermutation({ secret: 's', size: 2n ** 63n })).toThrow('size')
  })
})
