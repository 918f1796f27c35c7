/**
 * The keys of one kind, or the values of one property, that a recording writes: one series, or several beside each other.
 *
 *   o-001  o-002  o-003                     one series
 *   3-001  7-001  3-002  7-002              two: a series for each shard, the prefix up to the first separator
 *   ada/1  bob/1  ada/2  bob/2              two: a series for each parent
 */
import type { PathElement, Value } from '@sixtables/engine'
import { sum } from '../measure/sums.ts'
import { type Plain, Series, Sightings } from './series.ts'

/** Fewest terms per group, on average, for a division into groups. */
const groupSizeMin = 8
/** Smallest share of the terms that must be in rising groups. */
const orderedShareMin = 0.8

interface Terms<T> {
  /** For example `keys of Order`. */
  readonly subject: string
  plainOf(term: T): Plain | undefined
  /** The same term with another text or number. */
  changed(term: T, plain: Plain): T
  inWords(term: T): string
  /** Count of the possible numbers, from 0 on; absent: no limit. */
  readonly numbersMax?: bigint
}

const idMax = 2n ** 63n - 1n

export function keyRows(kinds: string): Rows<PathElement> {
  return new Rows<PathElement>({
    subject: `keys of ${kinds}`,
    numbersMax: idMax,
    plainOf: ({ id, name }) => (id === undefined ? (name ?? '') : id - 1n),
    changed: ({ kind }, plain) => (typeof plain === 'bigint' ? { kind, id: plain + 1n } : { kind, name: plain }),
    inWords: ({ id, name }) => (id === undefined ? JSON.stringify(name) : `${id}`),
  })
}

/** Resolution of a double: its range is divided into this many parts. */
const doubleParts = 1e6

/** @param property - whose values of one type these are */
export function valueRows(property: string): Rows<Value> {
  return new Rows<Value>({
    subject: `values of ${property}`,
    plainOf(value) {
      if (value.type === 'timestamp') return value.micros
      if (value.type === 'string' || value.type === 'integer') return value.value
      const parts = value.type === 'double' ? Math.round(value.value * doubleParts) : Number.NaN
      return Number.isFinite(parts) ? BigInt(parts) : undefined
    },
    changed(value, plain) {
      if (typeof plain === 'string') return { ...value, type: 'string', value: plain }
      if (value.type === 'timestamp') return { ...value, micros: plain }
      if (value.type === 'double') return { ...value, value: Number(plain) / doubleParts }
      return { ...value, type: 'integer', value: BigInt.asIntN(64, plain) }
    },
    inWords(value) {
      if (value.type === 'timestamp') return new Date(Number(value.micros / 1000n)).toISOString()
      return value.type === 'string' ? JSON.stringify(value.value) : 'value' in value ? `${value.value}` : value.type
    },
  })
}

export class Rows<T> {
  readonly #terms: Terms<T>
  readonly #whole = new Sightings<T>()
  readonly #groups = new Map<string, Sightings<T>>()
  /** By group; under `''` if there are no groups. */
  #series: ReadonlyMap<string, Series> = new Map()

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
    const { plainOf, numbersMax } = this.#terms
    const seriesOf = ({ terms, isClosed }: Sightings<T>): Series => new Series(terms.map(plainOf), isClosed, numbersMax)
    const whole = seriesOf(this.#whole)
    this.#series = new Map([['', whole]])
    const isOne = whole.manner !== 'scattered' && whole.manner !== 'without form'
    if (isOne || this.#groups.size * groupSizeMin > whole.count) return
    const groups = new Map([...this.#groups].map(([name, sightings]) => [name, seriesOf(sightings)]))
    const ordered = [...groups.values()].filter(({ isOrdered }) => isOrdered)
    if (sum(ordered.map(({ count }) => count)) >= orderedShareMin * whole.count) this.#series = groups
  }

  get isOrdered(): boolean {
    return [...this.#series.values()].some(({ isOrdered }) => isOrdered)
  }

  at(parent: string, term: T, pass: number): T {
    const series = this.#series.get('') ?? this.#series.get(this.#groupOf(parent, term))
    const plain = this.#terms.plainOf(term)
    const next = series?.at(plain, pass)
    return next === undefined || next === plain ? term : this.#terms.changed(term, next)
  }

  #groupOf(parent: string, term: T): string {
    const plain = this.#terms.plainOf(term)
    const shard = typeof plain === 'string' ? /^[^-_:|#/.]*[-_:|#/.]/.exec(plain)?.[0] : undefined
    return `${parent} ${shard ?? ''}`
  }

  words(passes: number): readonly string[] {
    const { inWords, subject: several } = this.#terms
    const all = [...this.#series].sort(([, a], [, b]) => b.count - a.count)
    const [largest] = all
    if (largest === undefined) return []
    const [group, { manner }] = largest
    const terms = (this.#series.has('') ? this.#whole : this.#groups.get(group))?.terms ?? []
    const [first, last] = [terms[0], terms.at(-1)]
    if (first === undefined || last === undefined) return []
    const count = this.#whole.terms.length
    const [subject, verb] = count === 1 ? [several.replace(/^(\w+)s/, '$1'), 'is'] : [several, 'are']
    const bounds = `from ${inWords(first)} to ${inWords(last)}`
    const rows = all.length === 1 ? '' : ` in ${all.length} rows`
    const room = all.reduce<bigint | undefined>((least, [, { passesMax }]) => {
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
        closed: `${count} ${subject} ${verb} written again and again: ${same}`,
        'too few': `${count} ${subject} ${verb} too few to tell whether they rise: ${same}`,
        'without form': `${count} ${subject} have no form in common and cannot be continued: ${same}`,
      }[manner],
    ]
  }
}
