/**
 * The keys of one kind, or the values of one property, that a recording writes: one series, or several beside each other.
 *
 *   o-001  o-002  o-003                     one series
 *   3-001  7-001  3-002  7-002              two: a series for each shard, the prefix up to the first separator
 *   ada/1  bob/1  ada/2  bob/2              two: a series for each parent
 */
import type { PathElement, Value } from '@sixtables/engine'
import { sum } from '../measure/sums.ts'
import { nameFormOf } from './name-form.ts'
import { type Scale, Series, Sightings } from './series.ts'

/** Fewest terms per group, on average, for a division into groups. */
const groupSizeMin = 8
/** Smallest share of the terms that must be in rising groups. */
const orderedShareMin = 0.8

interface Terms<T> {
  /** For example `keys of Order`. */
  readonly subject: string
  scaleOf(terms: readonly T[]): Scale<T> | undefined
  /** The text of a term; `''` if it is no text. */
  textOf(term: T): string
  inWords(term: T): string
}

export function keyRows(kinds: string): Rows<PathElement> {
  return new Rows<PathElement>({
    subject: `keys of ${kinds}`,
    scaleOf: keyScale,
    textOf: ({ name }) => name ?? '',
    inWords: ({ id, name }) => (id === undefined ? JSON.stringify(name) : `${id}`),
  })
}

export function valueRows(property: string): Rows<Value> {
  return new Rows<Value>({
    subject: `values of ${property}`,
    scaleOf: valueScale,
    textOf: (value) => (value.type === 'string' ? value.value : ''),
    inWords: valueInWords,
  })
}

export class Rows<T> {
  readonly #terms: Terms<T>
  readonly #whole = new Sightings<T>()
  readonly #groups = new Map<string, Sightings<T>>()
  /** By group; under `''` if there are no groups. */
  #series: ReadonlyMap<string, Series<T>> = new Map()

  constructor(terms: Terms<T>) {
    this.#terms = terms
  }

  /** @param words - equal for equal terms; `parent` - the key path before the term */
  note(words: string, parent: string, term: T): void {
    this.#whole.note(words, term)
    const group = this.#groupOf(parent, term)
    const sightings = this.#groups.get(group) ?? new Sightings<T>()
    this.#groups.set(group, sightings)
    sightings.note(words, term)
  }

  has(words: string): boolean {
    return this.#whole.has(words)
  }

  /** Decides how the series continue, after all terms were noted. */
  judge(): void {
    const scaleOf = (terms: readonly T[]): Scale<T> | undefined => this.#terms.scaleOf(terms)
    const whole = new Series(this.#whole, scaleOf)
    this.#series = new Map([['', whole]])
    const isOne = whole.manner !== 'scattered' && whole.manner !== 'without form'
    if (isOne || this.#groups.size * groupSizeMin > whole.count) return
    const groups = new Map([...this.#groups].map(([name, sightings]) => [name, new Series(sightings, scaleOf)]))
    const ordered = [...groups.values()].filter(({ isOrdered }) => isOrdered)
    if (sum(ordered.map(({ count }) => count)) >= orderedShareMin * whole.count) this.#series = groups
  }

  get isOrdered(): boolean {
    return [...this.#series.values()].some(({ isOrdered }) => isOrdered)
  }

  at(parent: string, term: T, pass: number): T {
    const series = this.#series.get('') ?? this.#series.get(this.#groupOf(parent, term))
    return series === undefined ? term : series.at(term, pass)
  }

  #groupOf(parent: string, term: T): string {
    return `${parent} ${/^[^-_:|#/.]*[-_:|#/.]/.exec(this.#terms.textOf(term))?.[0] ?? ''}`
  }

  words(passes: number): readonly string[] {
    const all = [...this.#series.values()].sort((a, b) => b.count - a.count)
    const [first] = all
    if (first?.first === undefined || first.last === undefined) return []
    const { inWords } = this.#terms
    const [count, one] = [this.#whole.terms.length, this.#whole.terms.length === 1]
    const subject = one ? this.#terms.subject.replace(/^\w+s/, (word) => word.slice(0, -1)) : this.#terms.subject
    const bounds = `from ${inWords(first.first)} to ${inWords(first.last)}`
    const rows = all.length === 1 ? '' : ` in ${all.length} rows`
    const room = all.reduce<bigint | undefined>((least, { passesMax }) => {
      return passesMax === undefined || (least !== undefined && least < passesMax) ? least : passesMax
    }, undefined)
    const end =
      room !== undefined && room < passes ? `, and begins anew after ${room + 1n}: there is no room for more` : ''
    const same = 'each pass writes the same'
    return [
      {
        rising: `${count} new ${subject} rise${rows}, ${bounds}: each pass goes on from there${end}`,
        falling: `${count} new ${subject} fall${rows}, ${bounds}: each pass goes on from there${end}`,
        scattered: `${count} new ${subject} are scattered: each pass has others`,
        closed: `${count} ${subject} ${one ? 'is' : 'are'} written again and again: ${same}`,
        'too few': `${count} ${subject} ${one ? 'is' : 'are'} too few to tell whether they rise: ${same}`,
        'without form': `${count} ${subject} have no form in common and cannot be continued: ${same}`,
      }[first.manner],
    ]
  }
}

function keyScale(terms: readonly PathElement[]): Scale<PathElement> | undefined {
  const kind = terms[0]?.kind ?? ''
  if (terms.some(({ id }) => id === undefined))
    return scaleOfNames(
      terms,
      ({ name }) => name ?? '',
      (name) => ({ kind, name }),
    )
  return {
    room: idMax,
    numberOf: ({ id }) => (id ?? 1n) - 1n,
    termOf: (number) => ({ kind, id: (((number % idMax) + idMax) % idMax) + 1n }),
  }
}

const idMax = 2n ** 63n - 1n

function scaleOfNames<T>(
  terms: readonly T[],
  nameOf: (term: T) => string,
  termOf: (name: string) => T,
): Scale<T> | undefined {
  const form = nameFormOf(terms.map(nameOf))
  return (
    form && {
      room: form.room,
      numberOf: (term) => form.numberOf(nameOf(term)),
      termOf: (number) => termOf(form.nameOf(number)),
    }
  )
}

/** Resolution of a double: its range is divided into this many parts. */
const doubleParts = 1e6

/** @param terms - values of one type */
function valueScale(terms: readonly Value[]): Scale<Value> | undefined {
  const type = terms[0]?.type
  if (type === 'string') {
    const nameOf = (term: Value): string => (term.type === type ? term.value : '')
    return scaleOfNames(terms, nameOf, (value) => ({ type, value }))
  }
  const numbers = type && numbersOf[type]
  if (numbers === undefined || !terms.every((term) => numbers[0](term) !== undefined)) return undefined
  return { room: undefined, numberOf: (term) => numbers[0](term) ?? 0n, termOf: numbers[1] }
}

/** The number of a value, if it has one, and the value of a number. */
type Numbers = readonly [numberOf: (term: Value) => bigint | undefined, termOf: (number: bigint) => Value]

const numbersOf: Partial<Readonly<Record<Value['type'], Numbers>>> = {
  integer: [
    (term) => (term.type === 'integer' ? term.value : undefined),
    (number) => ({ type: 'integer', value: BigInt.asIntN(64, number) }),
  ],
  timestamp: [
    (term) => (term.type === 'timestamp' ? term.micros : undefined),
    (micros) => ({ type: 'timestamp', micros }),
  ],
  double: [
    (term) => {
      const parts = term.type === 'double' ? Math.round(term.value * doubleParts) : Number.NaN
      return Number.isFinite(parts) ? BigInt(parts) : undefined
    },
    (number) => ({ type: 'double', value: Number(number) / doubleParts }),
  ],
}

function valueInWords(value: Value): string {
  if (value.type === 'timestamp') return new Date(Number(value.micros / 1000n)).toISOString()
  if (value.type === 'integer' || value.type === 'double') return `${value.value}`
  return value.type === 'string' ? JSON.stringify(value.value) : value.type
}
