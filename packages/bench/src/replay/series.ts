/**
 * A series of terms in a recording, and its continuation in later passes: ids or names of a kind's new entities, or values of a property.
 *
 *   rising      1, 2, 3 │ 4, 5, 6 │ …      each pass continues where the one before ended; a falling series falls on
 *   scattered   7, 2, 9 │ 4, 8, 3 │ …      each pass has other terms, between the same bounds
 *   closed      a, b, a │ a, b, a │ …      terms that repeat in the recording stay the same in each pass
 *
 * Equal terms of the recording are equal terms of each pass, so that a lookup still finds the entity that an insert made.
 */
import { hashOf } from '../sim/keys.ts'
import { type NameForm, nameFormOf } from './name-form.ts'

/** The text or the number of a term. */
export type Plain = string | bigint

export type Manner = 'rising' | 'falling' | 'scattered' | 'closed' | 'too few' | 'without form'

/** Fewer new terms may rise by chance. */
const termsMin = 8
/** Smallest share of steps between new terms in one direction, for a series that rises or falls. */
const stepShareMin = 0.8
/** Smallest share of the terms that must be new in the second half, for a series that is not closed. */
const lateShareMin = 0.25

export class Sightings<T> {
  readonly #firstSeen = new Map<string, { readonly term: T; readonly at: number }>()
  #count = 0

  /** @param words - equal for equal terms */
  note(words: string, term: T): void {
    const at = this.#count++
    if (!this.#firstSeen.has(words)) this.#firstSeen.set(words, { term, at })
  }

  has(words: string): boolean {
    return this.#firstSeen.has(words)
  }

  get terms(): readonly T[] {
    return [...this.#firstSeen.values()].map(({ term }) => term)
  }

  /** Whether terms repeat and new ones have become rare. */
  get isClosed(): boolean {
    if (this.#count === this.#firstSeen.size) return false
    const late = [...this.#firstSeen.values()].filter(({ at }) => at * 2 >= this.#count).length
    return late < lateShareMin * this.#firstSeen.size
  }
}

export class Series {
  readonly manner: Manner
  readonly count: number
  readonly #form: NameForm | undefined
  /** Count of the possible numbers or names, from 0 on; `undefined`: no limit. */
  readonly #room: bigint | undefined
  readonly #least: bigint = 0n
  readonly #most: bigint = 0n
  /** The distance from one pass to the next. */
  readonly #step: bigint = 0n

  /**
   * @param terms - each once, in the order in which they came
   * @param numbersMax - count of the possible numbers; those beyond it wrap around
   */
  constructor(terms: readonly (Plain | undefined)[], isClosed: boolean, numbersMax?: bigint) {
    this.count = terms.length
    this.#form = terms.every((term) => typeof term === 'string') ? nameFormOf(terms) : undefined
    this.#room = this.#form === undefined ? numbersMax : this.#form.room
    if (isClosed || terms.length < termsMin) {
      this.manner = isClosed ? 'closed' : 'too few'
      return
    }
    const numbers = terms.flatMap((term) => this.#numberOf(term) ?? [])
    if (numbers.length < terms.length) {
      this.manner = 'without form'
      return
    }
    this.manner = mannerOf(numbers)
    const ascending = numbers.toSorted((a, b) => (a < b ? -1 : 1))
    this.#least = ascending[0] ?? 0n
    this.#most = ascending.at(-1) ?? 0n
    const span = this.#most - this.#least
    const pause = span / BigInt(terms.length - 1)
    this.#step = (span + (pause < 1n ? 1n : pause)) * (this.manner === 'falling' ? -1n : 1n)
  }

  get isOrdered(): boolean {
    return this.manner === 'rising' || this.manner === 'falling'
  }

  /** Number of passes before terms repeat; `undefined`: they do not. */
  get passesMax(): bigint | undefined {
    if (!this.isOrdered || this.#room === undefined) return undefined
    return this.manner === 'rising' ? (this.#room - this.#least) / this.#step : (this.#most + 1n) / -this.#step
  }

  /** @param pass - 0: as recorded */
  at(term: Plain | undefined, pass: number): Plain | undefined {
    const number = this.#numberOf(term)
    if (pass === 0 || number === undefined || !(this.isOrdered || this.manner === 'scattered')) return term
    if (this.isOrdered) return this.#termOf(number + this.#step * BigInt(pass))
    return this.#termOf(this.#least + (chance(`${number} ${pass}`, this.#most) % (this.#most - this.#least + 1n)))
  }

  #numberOf(term: Plain | undefined): bigint | undefined {
    return typeof term === 'string' ? this.#form?.numberOf(term) : term
  }

  #termOf(number: bigint): Plain {
    if (this.#form !== undefined) return this.#form.nameOf(number)
    return this.#room === undefined ? number : ((number % this.#room) + this.#room) % this.#room
  }
}

function mannerOf(numbers: readonly bigint[]): Manner {
  let [up, down] = [0, 0]
  for (const [i, number] of numbers.entries()) {
    const before = numbers[i - 1]
    if (before === undefined) continue
    if (number > before) up++
    if (number < before) down++
  }
  const least = stepShareMin * (numbers.length - 1)
  return up >= least ? 'rising' : down >= least ? 'falling' : 'scattered'
}

/** A number drawn from a hash of `words`; the hash has 32 bits more than the bound, so that all numbers are equally likely. */
function chance(words: string, most: bigint): bigint {
  let hex = ''
  const length = most.toString(16).length + 8
  for (let n = 0; hex.length < length; n++) hex += hashOf(`${words} ${n}`)
  return BigInt(`0x${hex}`)
}
