/**
 * The exact sum and average of the numbers in index rows, read from their codes.
 *
 * - Integers are summed exactly, in any order; only the total is compared with 64 bits. A timestamp is the integer of its
 *   microseconds.
 * - One double, or a total beyond 64 bits, makes the sum a double. Doubles are summed with their rounding errors (Neumaier),
 *   so that the order of rows hardly matters: 0.1 + 0.2 + 0.3 is 0.6.
 * - Other values add nothing and are not counted. Without numbers the sum is the integer 0 and the average null; -0.0 alone
 *   gives 0.0.
 *
 * Known: the rules of Sum and Avg in the API's description of AggregationQuery. Measured on Google's Firestore emulator:
 * integers, timestamps and empty sums.
 */
import { invert } from '../encoding/bytes.ts'
import { decodeDouble, int32At } from '../encoding/ordered.ts'
import { valueClasses } from '../encoding/value-types.ts'
import type { Value } from '../model/value.ts'

const int64Class = valueClasses.int64.byte
const doubleClass = valueClasses.double.byte

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** The low halves of this many integers add up exactly in a double: 2^20 x 2^32 < 2^53. */
const halvesMax = 2 ** 20

export class NumberTotal {
  /** The part of the total that is not in the halves below. */
  #integers = 0n
  #high = 0
  #low = 0
  #inHalves = 0
  #doubles = 0
  #lost = 0
  #hasDoubles = false
  #count = 0

  /** Adds the number whose value code begins at `at`; ignores other values. @param inverted - in a descending column */
  addCode(code: string, at: number, inverted: boolean): void {
    const flip = inverted ? 0xff : 0
    const valueClass = code.charCodeAt(at) ^ flip
    if (valueClass === int64Class) {
      this.#addInteger(code, at + 1, inverted ? -1 : 0)
    } else if (valueClass === doubleClass) {
      this.#addDouble(inverted ? decodeDouble(invert(code.slice(at + 1, at + 9)), 0) : decodeDouble(code, at + 1))
    }
  }

  /** Eight bytes, big-endian, first bit flipped (encoding/ordered.ts). Two halves allocate nothing. */
  #addInteger(code: string, at: number, flip: number): void {
    this.#high += int32At(code, at) ^ flip ^ 0x8000_0000
    this.#low += (int32At(code, at + 4) ^ flip) >>> 0
    this.#count++
    if (++this.#inHalves === halvesMax) this.#takeHalves()
  }

  #takeHalves(): void {
    this.#integers += BigInt(this.#high) * 0x1_0000_0000n + BigInt(this.#low)
    this.#high = 0
    this.#low = 0
    this.#inHalves = 0
  }

  #addDouble(value: number): void {
    const sum = this.#doubles + value
    this.#lost += Math.abs(this.#doubles) >= Math.abs(value) ? this.#doubles - sum + value : value - sum + this.#doubles
    this.#doubles = sum
    this.#hasDoubles = true
    this.#count++
  }

  sum(): Value {
    this.#takeHalves()
    const whole = this.#integers
    if (!this.#hasDoubles && whole >= int64Min && whole <= int64Max) return { type: 'integer', value: whole }
    return { type: 'double', value: this.#asDouble() }
  }

  average(): Value {
    if (this.#count === 0) return { type: 'null' }
    this.#takeHalves()
    return { type: 'double', value: this.#asDouble() / this.#count }
  }

  #asDouble(): number {
    const integers = Number(this.#integers)
    if (!this.#hasDoubles) return integers
    const exact = new NumberTotal()
    exact.#doubles = this.#doubles
    exact.#lost = this.#lost
    exact.#addDouble(integers)
    // If the sum is not finite, the collected errors are NaN and mean nothing.
    const sum = exact.#doubles + exact.#lost
    return Number.isFinite(exact.#doubles) ? sum : exact.#doubles
  }
}
