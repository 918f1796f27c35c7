/**
 * The texts of golden scripts → keys, values, mutations and queries.
 *
 *   key          User:"ada"/ToDo:5                ToDo (incomplete)
 *   value        null  true  5  1.5  nan  inf  "text"  0x00ff  @2026-01-01T00:00:00Z  geo(1.5, -2)  ToDo:5
 *                [1, "a"]  {a: 1, b: "x"}  vector(1.0, 2.0)
 *   properties   owner="ada" note~="long"         ~= excludes from indexes
 *   query        ToDo [select a, b] [distinct a] [where …] [under User:1] [order p desc, q] [offset n] [limit n] [keys]
 *   where        p>=1 and (q="x" or r in [1, 2])  also != and "not in"; `and` binds closer than `or`
 */

import type { Mutation, PropertyTransform } from '../../src/database/api.ts'
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import type { Key, PathElement } from '../../src/model/key.ts'
import type { Filter, PropertyOperator, PropertyOrder, Query } from '../../src/model/query.ts'
import { type Value, vectorMeaning } from '../../src/model/value.ts'

export const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

/** `User:"ada"/ToDo:5`, `ToDo` (incomplete). */
export function parseKey(text: string): Key {
  const path = text.split('/').map((step): PathElement => {
    const colon = step.indexOf(':')
    if (colon < 0) return { kind: step }
    const kind = step.slice(0, colon)
    const rest = step.slice(colon + 1)
    return rest.startsWith('"') ? { kind, name: JSON.parse(rest) } : { kind, id: BigInt(rest) }
  })
  return { partition, path }
}

const token =
  /\s*((?:\w+:(?:"(?:[^"\\]|\\.)*"|\d+)\/?)+\w*|@[\dT:.Z-]+|"(?:[^"\\]|\\.)*"|[<>!]=|~=|[<>=()[\]{},:]|-?[\w.$]+(?:-\d+)?)/y

/** The words of one command, read from left to right. */
export class Words {
  readonly #words: readonly string[]
  #at = 0

  constructor(text: string) {
    const words: string[] = []
    token.lastIndex = 0
    while (token.lastIndex < text.length) {
      const from = token.lastIndex
      const found = token.exec(text)
      if (found === null) {
        if (text.slice(from).trim() === '') break
        throw new Error(`golden script: not understood: ${text.slice(from)}`)
      }
      words.push(found[1] as string)
    }
    this.#words = words
  }

  get next(): string | undefined {
    return this.#words[this.#at]
  }

  get after(): string | undefined {
    return this.#words[this.#at + 1]
  }

  take(): string {
    const word = this.#words[this.#at++]
    if (word === undefined) throw new Error('golden script: the command ends too early')
    return word
  }

  /** Goes past a word if it comes next. */
  skip(word: string): boolean {
    if (this.next !== word) return false
    this.#at++
    return true
  }

  expect(word: string): void {
    if (!this.skip(word)) throw new Error(`golden script: ${word} expected before ${this.next ?? 'the end'}`)
  }

  /** Items with commas between them. */
  list<T>(item: () => T): T[] {
    const items = [item()]
    while (this.skip(',')) items.push(item())
    return items
  }

  /** Items with commas between them up to `end`, which is passed. */
  listUpTo<T>(end: string, item: () => T): T[] {
    if (this.skip(end)) return []
    const items = this.list(item)
    this.expect(end)
    return items
  }
}

const plainValues: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['null', { type: 'null' }],
  ['true', { type: 'boolean', value: true }],
  ['false', { type: 'boolean', value: false }],
  ['nan', { type: 'double', value: Number.NaN }],
  ['inf', { type: 'double', value: Number.POSITIVE_INFINITY }],
  ['-inf', { type: 'double', value: Number.NEGATIVE_INFINITY }],
])

export function readValue(words: Words): Value {
  const word = words.take()
  const plain = plainValues.get(word)
  if (plain !== undefined) return plain
  if (word === '[') return { type: 'array', values: words.listUpTo(']', () => readValue(words)) }
  if (word === '{') {
    const properties = words.listUpTo('}', (): [string, Value] => {
      const name = words.take()
      words.expect(':')
      return [name, readValue(words)]
    })
    return { type: 'entity', properties: new Map(properties) }
  }
  if (word === 'geo' || word === 'vector') {
    words.expect('(')
    const numbers = words.listUpTo(')', () => Number(words.take()))
    if (word === 'geo') return { type: 'geoPoint', latitude: numbers[0] ?? 0, longitude: numbers[1] ?? 0 }
    return { type: 'array', values: numbers.map((value) => ({ type: 'double', value })), meaning: vectorMeaning }
  }
  if (word.startsWith('"')) return { type: 'string', value: JSON.parse(word) }
  if (word.startsWith('@')) return { type: 'timestamp', micros: BigInt(Date.parse(word.slice(1))) * 1000n }
  if (word.startsWith('0x')) return { type: 'blob', value: Buffer.from(word.slice(2), 'hex') }
  if (/^-?\d+$/.test(word)) return { type: 'integer', value: BigInt(word) }
  if (/^-?\d+\.\d+(e-?\d+)?$/.test(word)) return { type: 'double', value: Number(word) }
  if (word.includes(':')) return { type: 'key', key: parseKey(word) }
  throw new Error(`golden script: no value: ${word}`)
}

function readProperties(words: Words): Map<string, Value> {
  const properties = new Map<string, Value>()
  while (words.after === '=' || words.after === '~=') {
    const name = words.take()
    const isExcluded = words.take() === '~='
    properties.set(name, { ...readValue(words), ...(isExcluded ? { excludeFromIndexes: true } : {}) })
  }
  return properties
}

function entityBytes(key: Key, properties: Map<string, Value>): Uint8Array {
  const keyBytes = encodeKey(key)
  return Buffer.concat([Buffer.from([0x0a, ...varint(keyBytes.length)]), keyBytes, encodeProperties(properties)])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

/** `put ToDo:1 x=1 mask x, y then n increment 1 and l removeAll [2] expect 0`, `delete ToDo:1`. */
export function parseMutation(text: string): Mutation {
  const words = new Words(text)
  const verb = words.take()
  const key = parseKey(words.take())
  if (verb === 'delete') return { operation: 'delete', key }
  const operation = verb === 'put' ? 'upsert' : verb
  if (operation !== 'upsert' && operation !== 'insert' && operation !== 'update') {
    throw new Error(`golden script: no mutation: ${verb}`)
  }
  const properties = readProperties(words)
  const mask = words.skip('mask') ? words.list(() => words.take()) : undefined
  const transforms: PropertyTransform[] = []
  if (words.skip('then')) {
    do transforms.push(readTransform(words))
    while (words.skip('and'))
  }
  const expected = words.skip('expect') ? BigInt(words.take()) : undefined
  if (words.next !== undefined) throw new Error(`golden script: not understood: ${words.next}`)
  return {
    operation,
    entity: entityBytes(key, properties),
    ...(mask === undefined ? {} : { propertyMask: mask }),
    ...(transforms.length === 0 ? {} : { transforms }),
    ...(expected === undefined ? {} : { conflict: { baseVersion: expected } }),
  }
}

/** `put A:1 x=1, delete A:2`: all mutations of a command. */
export function parseMutations(text: string): Mutation[] {
  return text.split(/, (?=put |insert |update |delete )/).map(parseMutation)
}

function readTransform(words: Words): PropertyTransform {
  const property = words.take()
  const type = words.take()
  if (type === 'requestTime') return { property, type }
  const value = readValue(words)
  if (type === 'increment' || type === 'maximum' || type === 'minimum') return { property, type, value }
  if (value.type === 'array' && (type === 'appendMissing' || type === 'removeAll')) {
    return { property, type, values: value.values }
  }
  throw new Error(`golden script: no transform: ${type}`)
}

const operators: Readonly<Record<string, PropertyOperator>> = {
  '=': 'equal',
  '!=': 'notEqual',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  in: 'in',
}

function readFilter(words: Words): Filter {
  const filters = [readConjunction(words)]
  while (words.skip('or')) filters.push(readConjunction(words))
  return composite('or', filters)
}

function readConjunction(words: Words): Filter {
  const filters = [readCondition(words)]
  while (words.skip('and')) filters.push(readCondition(words))
  return composite('and', filters)
}

function composite(operator: 'and' | 'or', filters: readonly Filter[]): Filter {
  const [first] = filters
  return filters.length === 1 && first !== undefined ? first : { type: 'composite', operator, filters }
}

function readCondition(words: Words): Filter {
  if (words.skip('(')) {
    const filter = readFilter(words)
    words.expect(')')
    return filter
  }
  const property = words.take()
  const sign = words.take()
  if (sign === 'not') {
    words.expect('in')
    return { type: 'property', property, operator: 'notIn', value: readValue(words) }
  }
  const operator = operators[sign]
  if (operator === undefined) throw new Error(`golden script: no operator: ${sign}`)
  return { type: 'property', property, operator, value: readValue(words) }
}

function readOrder(words: Words): PropertyOrder {
  const property = words.take()
  return { property, direction: words.skip('desc') ? 'descending' : 'ascending' }
}

/** Reads a query and stops at the first word that is none of its own. */
export function readQuery(words: Words): Query {
  const clauses = new Set(['select', 'distinct', 'where', 'under', 'order', 'offset', 'limit', 'keys', undefined])
  const kind = clauses.has(words.next) ? undefined : words.take()
  const projection = words.skip('select') ? words.list(() => words.take()) : []
  const distinctOn = words.skip('distinct') ? words.list(() => words.take()) : []
  const filters = words.skip('where') ? [readFilter(words)] : []
  if (words.skip('under')) {
    const value: Value = { type: 'key', key: parseKey(words.take()) }
    filters.push({ type: 'property', property: '__key__', operator: 'hasAncestor', value })
  }
  const order = words.skip('order') ? words.list(() => readOrder(words)) : []
  const offset = words.skip('offset') ? Number(words.take()) : 0
  // `keys` may stand before the limit or behind it.
  let isKeysOnly = words.skip('keys')
  const limit = words.skip('limit') ? Number(words.take()) : undefined
  isKeysOnly = words.skip('keys') || isKeysOnly
  return {
    partition,
    kind,
    projection: isKeysOnly ? ['__key__'] : projection,
    filter: filters.length === 0 ? undefined : composite('and', filters),
    order,
    distinctOn,
    offset,
    limit,
  }
}
