/**
 * A reversible shuffle of ids, for moving entities numbered 1, 2, 3 … into a store where neighbouring keys make a hot tablet.
 *
 *   idOf(42)     → another id of 1 … size        for keys that stay numeric
 *   nameOf(42)   → "8k2q0…", 13 characters       for keys that become names; every 64-bit id has one
 *
 * It is a Feistel network: the number is cut into two halves, and each round changes one half by a mix of the other, which
 * the secret can undo. A result outside the range is shuffled again (cycle walking), at most four times on average. Both are one-to-one,
 * and the same for a secret and size on any machine and in any version (test/property/ids.key-permutation.test.ts).
 *
 * It spreads keys; it does not hide the original number. Known: Feistel networks, cycle walking (Black and Rogaway). Ours: the round
 * function and the text form (docs/decisions/0020-key-permutation.md).
 */
import { createHmac } from 'node:crypto'
import { invalidArgument } from '../errors.ts'

/** Four rounds spread well enough with a good mix; eight cost 0.1 µs more and tolerate a weaker one. */
const rounds = 8

/** The digits of a name, 5 bits each, in ASCII order, so that names sort like the shuffled numbers. */
const alphabet = '0123456789abcdefghijklmnopqrstuv'
const nameLength = 13

const idMin = -(2n ** 63n)
const idMax = 2n ** 63n - 1n

export interface KeyPermutationOptions {
  /** Any text; another text gives another shuffle. Keep it: without it the original ids are lost. */
  readonly secret: string
  /** The number of ids: numeric ids are 1 to this before and after. At most 2^63 - 1. */
  readonly size: bigint
}

/** Mixes one half with the two words of a round's key: 32 bits in, 32 well-mixed bits out. */
function mix(half: number, first: number, second: number): number {
  let h = (half ^ first) | 0
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15) ^ second, 0x846ca68b)
  return h ^ (h >>> 16)
}

/** The round keys of a secret, two words each. `label` gives each size its own shuffle. */
function roundKeys(secret: string, label: string): Int32Array {
  const keys = new Int32Array(rounds * 2)
  for (let round = 0; round < rounds; round++) {
    const digest = createHmac('sha256', secret).update(`sixtables key permutation 1, ${label}, round ${round}`).digest()
    keys[round * 2] = digest.readInt32BE(0)
    keys[round * 2 + 1] = digest.readInt32BE(4)
  }
  return keys
}

/** A one-to-one map of 0 … size - 1 onto itself; `size` from 1 to 2^64. */
function feistelPermutation(
  secret: string,
  size: bigint,
): (value: bigint, direction: 'forward' | 'backward') => bigint {
  const width = Math.ceil(Math.max(2, (size - 1n).toString(2).length) / 2)
  const shift = BigInt(width)
  const mask = BigInt(2 ** width - 1)
  const keys = roundKeys(secret, `size ${size}`)
  const last = size - 1n
  const lastLeft = Number(last >> shift)
  const lastRight = Number(last & mask)
  /** `half` changed by the round's mix of `other`. The high bits of the mix are the best, so the low ones are dropped. */
  const xored = (half: number, other: number, round: number): number => {
    const mixed = mix(other, keys[round * 2] as number, keys[round * 2 + 1] as number)
    return (half ^ (mixed >>> (32 - width))) >>> 0
  }
  return (value, direction) => {
    let left = Number(value >> shift)
    let right = Number(value & mask)
    do {
      for (let i = 0; i < rounds; i++) {
        if (direction === 'forward') [left, right] = [right, xored(left, right, i)]
        else [left, right] = [xored(right, left, rounds - 1 - i), left]
      }
    } while (left > lastLeft || (left === lastLeft && right > lastRight))
    return (BigInt(left) << shift) | BigInt(right)
  }
}

export class KeyPermutation {
  readonly #size: bigint
  readonly #shuffledId: ReturnType<typeof feistelPermutation>
  readonly #shuffledName: ReturnType<typeof feistelPermutation>

  /** @throws INVALID_ARGUMENT for an empty secret, or a size below 1 or above 2^63 - 1 */
  constructor(options: KeyPermutationOptions) {
    if (options.secret === '') throw invalidArgument('a key permutation needs a secret text; it was empty')
    if (options.size < 1n || options.size > idMax) {
      throw invalidArgument(`the size of a key permutation is 1 to ${idMax}, not ${options.size}`)
    }
    this.#size = options.size
    this.#shuffledId = feistelPermutation(options.secret, options.size)
    this.#shuffledName = feistelPermutation(options.secret, 2n ** 64n)
  }

  /** The id that replaces `original`; both are 1 to size. */
  idOf(original: bigint): bigint {
    return this.#shuffledId(this.#checked(original) - 1n, 'forward') + 1n
  }

  originalOf(id: bigint): bigint {
    return this.#shuffledId(this.#checked(id) - 1n, 'backward') + 1n
  }

  /** The name that replaces the id `original`: 13 characters 0–9, a–v. Takes any 64-bit id, not only 1 to size. */
  nameOf(original: bigint): string {
    if (original < idMin || original > idMax) throw invalidArgument(`${original} is no 64-bit id`)
    return this.#shuffledName(BigInt.asUintN(64, original), 'forward').toString(32).padStart(nameLength, '0')
  }

  /** The inverse of {@link nameOf}. INVALID_ARGUMENT if no id has this name. */
  originalOfName(name: string): bigint {
    let shuffled = 0n
    for (const character of name) {
      const digit = alphabet.indexOf(character)
      if (digit < 0) throw this.#noName(name)
      shuffled = shuffled * 32n + BigInt(digit)
    }
    if (name.length !== nameLength || shuffled >= 2n ** 64n) throw this.#noName(name)
    return BigInt.asIntN(64, this.#shuffledName(shuffled, 'backward'))
  }

  #checked(id: bigint): bigint {
    if (id < 1n || id > this.#size) {
      throw invalidArgument(`this key permutation was made for ids 1 to ${this.#size}; ${id} is none of them`)
    }
    return id
  }

  #noName(name: string): Error {
    return invalidArgument(
      `${JSON.stringify(name)} is no name of a key permutation: these are ${nameLength} characters of ${alphabet}`,
    )
  }
}
