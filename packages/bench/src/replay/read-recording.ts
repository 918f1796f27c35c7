/**
 * Reader of a recording, the lines that `sixtables record` writes (docs/reference/recordings.md). A wrong or broken file is refused with
 * the number of the line, its content and a remedy.
 */
import {
  type Aggregation,
  DatastoreError,
  decodeValue,
  type Key,
  type PartitionId,
  type PropertyOperator,
  parseKeyPath,
  parseKindPath,
  type Query,
  type Value,
} from '@sixtables/engine'
import { orderOf } from '../sim/entities.ts'

export interface RecordedMutation {
  readonly operation: 'insert' | 'update' | 'upsert' | 'delete'
  /** The last element has no id if it was automatic and the commit failed. */
  readonly key: Key
  readonly bytes: number
  /** Bytes of the indexed value of each property; for an array, of each element. */
  readonly indexed: Readonly<Record<string, number | readonly number[]>>
  /** A google.datastore.v1.Entity. */
  readonly entity: Uint8Array | undefined
}

/** A filter of the engine, with values of another type. */
export type FilterOf<V> =
  | { readonly type: 'property'; readonly property: string; readonly operator: PropertyOperator; readonly value: V }
  | { readonly type: 'composite'; readonly operator: 'and' | 'or'; readonly filters: readonly FilterOf<V>[] }

export type PropertyFilter<V> = Extract<FilterOf<V>, { type: 'property' }>

export function withValues<V, W>(filter: FilterOf<V>, change: (filter: PropertyFilter<V>) => W): FilterOf<W> {
  return filter.type === 'property'
    ? { ...filter, value: change(filter) }
    : { ...filter, filters: filter.filters.map((one) => withValues(one, change)) }
}

/** A value, or the bytes of one that was not recorded. */
export type RecordedValue = Value | number

export interface RecordedQuery extends Omit<Query, 'filter'> {
  readonly filter: FilterOf<RecordedValue> | undefined
  readonly aggregations: readonly Aggregation[]
  readonly isNearest: boolean
  /** Whether it continued from a cursor, which is not recorded. */
  readonly isFromCursor: boolean
}

export interface RecordedCall {
  readonly ms: number
  readonly method: string
  readonly code: string
  readonly keys: readonly Key[]
  readonly mutations: readonly RecordedMutation[]
  readonly query: RecordedQuery | undefined
}

export interface Recording {
  /** In the order in which they began. */
  readonly calls: readonly RecordedCall[]
  /** Number of calls that the server could not record. */
  readonly lost: number
}

/** The fault of a file, with its line. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}

const format = 'sixtables-recording'
const version = 1
const how = 'make one with sixtables record FILE'

/** @throws RecordingError */
export function parseRecording(text: string): Recording {
  const lines = text.split('\n')
  checkHeader(lines[0] ?? '')
  const calls: RecordedCall[] = []
  let lost = 0
  for (const [i, line] of lines.entries()) {
    if (i === 0 || (line === '' && i === lines.length - 1)) continue
    const fields = fieldsOf(i + 1, line)
    if (fields.has('lost')) lost += fields.number('lost')
    else calls.push(callOf(fields))
  }
  if (calls.length === 0) throw new RecordingError(`the recording has no calls; ${how} while the server gets some`)
  return { calls: calls.sort((a, b) => a.ms - b.ms), lost }
}

function checkHeader(line: string): void {
  let header: Fields | undefined
  try {
    header = fieldsOf(1, line)
  } catch {}
  if (header?.values['format'] !== format) {
    throw wrongLine(1, line, `it is no recording, whose first line begins {"format":"${format}"; ${how}`)
  }
  const found = JSON.stringify(header.values['version'])
  if (found !== `${version}`)
    throw header.wrong(`its version is ${found}, and ${version} can be read; ${how} of this version`)
}

const shownMax = 60

function wrongLine(number: number, text: string, what: string): RecordingError {
  const shown = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
  return new RecordingError(`line ${number}: ${what}; found ${shown === '' ? 'an empty line' : shown}`)
}

function fieldsOf(number: number, text: string): Fields {
  const wrong = (what: string): RecordingError => wrongLine(number, text, what)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw wrong('it is no JSON; the file is broken or was cut off')
  }
  if (!isObject(value)) throw wrong('it is no JSON object')
  return new Fields(value, wrong)
}

/** The fields of a line, or of an object in it. */
class Fields {
  readonly values: Readonly<Record<string, unknown>>
  readonly wrong: (what: string) => RecordingError

  constructor(values: Readonly<Record<string, unknown>>, wrong: (what: string) => RecordingError) {
    this.values = values
    this.wrong = wrong
  }

  has(name: string): boolean {
    return this.values[name] !== undefined
  }

  text(name: string, byDefault?: string): string {
    const value = this.values[name] ?? byDefault
    if (typeof value === 'string') return value
    throw this.wrong(`"${name}" must be a text`)
  }

  number(name: string, byDefault?: number): number {
    const value = this.values[name] ?? byDefault
    if (typeof value === 'number' && value >= 0) return value
    throw this.wrong(`"${name}" must be a number of 0 or more`)
  }

  #list<T>(name: string, is: (one: unknown) => one is T, what: string): readonly T[] {
    const value = this.values[name] ?? []
    if (!Array.isArray(value)) throw this.wrong(`"${name}" must be a list`)
    if (value.every(is)) return value
    throw this.wrong(`"${name}" must be a list of ${what}`)
  }

  texts(name: string): readonly string[] {
    return this.#list(name, (one) => typeof one === 'string', 'texts')
  }

  objects(name: string): readonly Fields[] {
    return this.#list(name, isObject, 'objects').map((one) => new Fields(one, this.wrong))
  }

  object(name: string): Fields | undefined {
    const value = this.values[name]
    if (value === undefined) return undefined
    if (isObject(value)) return new Fields(value, this.wrong)
    throw this.wrong(`"${name}" must be an object`)
  }

  bytes(name: string): Uint8Array | undefined {
    return this.has(name) ? Buffer.from(this.text(name), 'base64') : undefined
  }

  /** @param database - with the default namespace */
  key(database: PartitionId): Key {
    const text = this.text('key')
    const partition = { ...database, namespaceId: this.text('namespace', '') }
    try {
      return { partition, path: parseKeyPath(text) }
    } catch (error) {
      if (!(error instanceof DatastoreError)) throw error
      try {
        return { partition, path: parseKindPath(text) }
      } catch {
        throw this.wrong(error.message)
      }
    }
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function callOf(fields: Fields): RecordedCall {
  const query = fields.object('query')
  const [ms, method, code] = [fields.number('ms'), fields.text('method'), fields.text('code')]
  const database = { projectId: fields.text('project', ''), databaseId: fields.text('database', ''), namespaceId: '' }
  return {
    ...{ ms, method, code },
    keys: fields.objects('keys').map((key) => key.key(database)),
    mutations: fields.objects('mutations').map((mutation) => mutationOf(mutation, database)),
    query: query && queryOf(query, database),
  }
}

const operations = ['insert', 'update', 'upsert', 'delete'] as const

function mutationOf(fields: Fields, database: PartitionId): RecordedMutation {
  const operation = operations.find((one) => one === fields.values['operation'])
  if (operation === undefined) throw fields.wrong(`"operation" must be one of ${operations.join(', ')}`)
  const indexed = fields.values['indexed'] ?? {}
  const sizes = isObject(indexed) ? Object.values(indexed).flat() : [undefined]
  if (sizes.some((size) => typeof size !== 'number')) throw fields.wrong('"indexed" must have a size for each property')
  return {
    operation,
    key: fields.key(database),
    bytes: fields.number('bytes', 0),
    indexed: indexed as RecordedMutation['indexed'],
    entity: fields.bytes('entity'),
  }
}

function queryOf(fields: Fields, database: PartitionId): RecordedQuery {
  const filter = fields.object('filter')
  return {
    partition: { ...database, namespaceId: fields.text('namespace', '') },
    kind: fields.has('kind') ? fields.text('kind') : undefined,
    projection: fields.texts('projection'),
    filter: filter && filterOf(filter, database),
    order: fields.texts('order').map(orderOf),
    distinctOn: fields.texts('distinctOn'),
    offset: fields.number('offset', 0),
    limit: fields.has('limit') ? fields.number('limit') : undefined,
    aggregations: fields.texts('aggregations').map(aggregationOf),
    isNearest: fields.has('nearest'),
    isFromCursor: fields.has('fromCursor'),
  }
}

function aggregationOf(words: string): Aggregation {
  const [operator, ...property] = words.split(':')
  if (operator === 'sum' || operator === 'avg') return { operator, property: property.join(':') }
  return { operator: 'count', upTo: undefined }
}

function filterOf(fields: Fields, database: PartitionId): FilterOf<RecordedValue> {
  for (const operator of ['and', 'or'] as const) {
    if (!fields.has(operator)) continue
    const filters = fields.objects(operator).map((one) => filterOf(one, database))
    return { type: 'composite', operator, filters }
  }
  const property = fields.text('property')
  // The engine refuses an unknown operator.
  const operator = fields.text('operator') as PropertyOperator
  const bytes = fields.number('bytes', 0)
  if (fields.has('key')) {
    return { type: 'property', property, operator, value: { type: 'key', key: fields.key(database) } }
  }
  const value = fields.bytes('value')
  try {
    return {
      type: 'property',
      property,
      operator,
      value: value === undefined ? bytes : decodeValue(value, database, property),
    }
  } catch (error) {
    throw error instanceof DatastoreError ? fields.wrong(`"value" cannot be read: ${error.message}`) : error
  }
}
