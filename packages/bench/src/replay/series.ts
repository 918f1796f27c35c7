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

export interface Scale<T> {
  numberOf(term: T): bigint
  termOf(number: bigint): T
  /** Count of the possible numbers, from 0 on; `undefined`: so many that no series reaches the end. */
  readonly room: bigint | undefined
}

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

export class Series<T> {
  readonly manner: Manner
  readonly count: number
  readonly first: T | undefined
  readonly last: T | undefined
  readonly #scale: Scale<T> | undefined
  readonly #least: bigint = 0n
  readonly #most: bigint = 0n
  /** The distance from one pass to the next. */
  readonly #step: bigint = 0n

  constructor(sightings: Sightings<T>, scaleOf: (terms: readonly T[]) => Scale<T> | undefined) {
    const { terms } = sightings
    this.count = terms.length
    this.first = terms[0]
    this.last = terms.at(-1)
    this.#scale = scaleOf(terms)
    const scale = this.#scale
    if (sightings.isClosed) this.manner = 'closed'
    else if (terms.length < termsMin) this.manner = 'too few'
    else if (scale === undefined) this.manner = 'without form'
    else {
      const numbers = terms.map((term) => scale.numberOf(term))
      this.manner = mannerOf(numbers)
      const ascending = numbers.toSorted((a, b) => (a < b ? -1 : 1))
      this.#least = ascending[0] ?? 0n
      this.#most = ascending.at(-1) ?? 0n
      const span = this.#most - this.#least
      const pause = span / BigInt(terms.length - 1)
      this.#step = (span + (pause < 1n ? 1n : pause)) * (this.manner === 'falling' ? -1n : 1n)
    }
  }

  get isOrdered(): boolean {
    return this.manner === 'rising' || this.manner === 'falling'
  }

  /** Number of passes before terms repeat; `undefined`: they do not. */
  get passesMax(): bigint | undefined {
    const room = this.#scale?.room
    if (!this.isOrdered || room === undefined) return undefined
    return this.manner === 'rising' ? (room - this.#least) / this.#step : (this.#most + 1n) / -this.#step
  }

  /** @param pass - 0: as recorded */
  at(term: T, pass: number): T {
    const scale = this.#scale
    if (pass === 0 || scale === undefined || !(this.isOrdered || this.manner === 'scattered')) return term
    const number = scale.numberOf(term)
    if (this.isOrdered) return scale.termOf(number + this.#step * BigInt(pass))
    return scale.termOf(this.#least + (chance(`${number} ${pass}`, this.#most) % (this.#most - this.#least + 1n)))
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
