/**
 * Reader of a recording, the lines that `sixtables record` writes (docs/reference/recordings.md). A wrong or broken file is refused with
 * the number of the line, its content and a remedy.
 */
import { DatastoreError, type PathElement, parseKeyPath, parseKindPath } from '@sixtables/engine'

export interface RecordedKey {
  readonly namespace: string
  /** The last element has no id if it was automatic and the commit failed. */
  readonly path: readonly PathElement[]
}

export interface RecordedMutation {
  readonly operation: 'insert' | 'update' | 'upsert' | 'delete'
  readonly key: RecordedKey
  readonly bytes: number
  /** Bytes of the indexed value of each property; for an array, of each element. */
  readonly indexed: Readonly<Record<string, number | readonly number[]>>
  /** A google.datastore.v1.Entity. */
  readonly entity: Uint8Array | undefined
}

export type RecordedFilter =
  | { readonly all: readonly RecordedFilter[] }
  | { readonly any: readonly RecordedFilter[] }
  | {
      readonly property: string
      readonly operator: string
      readonly bytes: number
      readonly key: RecordedKey | undefined
      /** A google.datastore.v1.Value. */
      readonly value: Uint8Array | undefined
    }

export interface RecordedQuery {
  readonly namespace: string
  readonly kind: string | undefined
  readonly projection: readonly string[]
  readonly filter: RecordedFilter | undefined
  readonly order: readonly string[]
  readonly distinctOn: readonly string[]
  readonly offset: number
  readonly limit: number | undefined
  readonly aggregations: readonly string[]
  readonly isNearest: boolean
  /** Whether it continued from a cursor, which is not recorded. */
  readonly isFromCursor: boolean
}

export interface RecordedCall {
  readonly ms: number
  readonly method: string
  readonly code: string
  readonly project: string
  readonly database: string
  readonly keys: readonly RecordedKey[]
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
    const at = new Line(i + 1, line)
    const fields = at.object()
    if (fields['lost'] !== undefined) lost += at.number(fields, 'lost')
    else calls.push(callOf(at, fields))
  }
  if (calls.length === 0) throw new RecordingError(`the recording has no calls; ${how} while the server gets some`)
  return { calls: calls.sort((a, b) => a.ms - b.ms), lost }
}

function checkHeader(line: string): void {
  const at = new Line(1, line)
  const header = ((): Fields => {
    try {
      return at.object()
    } catch {
      return {}
    }
  })()
  if (header['format'] !== format) {
    throw at.wrong(`it is no recording, whose first line begins {"format":"${format}"; ${how}`)
  }
  if (header['version'] !== version) {
    throw at.wrong(
      `its version is ${JSON.stringify(header['version'])}, and ${version} can be read; ${how} of this version`,
    )
  }
}

type Fields = Readonly<Record<string, unknown>>

const shownMax = 60

/** One line with its number, for messages. */
class Line {
  readonly #number: number
  readonly #text: string

  constructor(number: number, text: string) {
    this.#number = number
    this.#text = text
  }

  wrong(what: string): RecordingError {
    const shown = this.#text.length > shownMax ? `${this.#text.slice(0, shownMax)}…` : this.#text
    return new RecordingError(`line ${this.#number}: ${what}; found ${shown === '' ? 'an empty line' : shown}`)
  }

  object(): Fields {
    let value: unknown
    try {
      value = JSON.parse(this.#text)
    } catch {
      throw this.wrong('it is no JSON; the file is broken or was cut off')
    }
    if (!isObject(value)) throw this.wrong('it is no JSON object')
    return value
  }

  text(fields: Fields, name: string, byDefault?: string): string {
    const value = fields[name] ?? byDefault
    if (typeof value === 'string') return value
    throw this.wrong(`"${name}" must be a text`)
  }

  number(fields: Fields, name: string, byDefault?: number): number {
    const value = fields[name] ?? byDefault
    if (typeof value === 'number' && value >= 0) return value
    throw this.wrong(`"${name}" must be a number of 0 or more`)
  }

  list(fields: Fields, name: string): readonly unknown[] {
    const value = fields[name] ?? []
    if (Array.isArray(value)) return value
    throw this.wrong(`"${name}" must be a list`)
  }

  texts(fields: Fields, name: string): readonly string[] {
    return this.list(fields, name).map((one) => {
      if (typeof one === 'string') return one
      throw this.wrong(`"${name}" must be a list of texts`)
    })
  }

  objects(fields: Fields, name: string): readonly Fields[] {
    return this.list(fields, name).map((one) => {
      if (isObject(one)) return one
      throw this.wrong(`"${name}" must be a list of objects`)
    })
  }

  bytes(fields: Fields, name: string): Uint8Array | undefined {
    return fields[name] === undefined ? undefined : Buffer.from(this.text(fields, name), 'base64')
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function callOf(line: Line, fields: Fields): RecordedCall {
  const query = fields['query']
  if (query !== undefined && !isObject(query)) throw line.wrong('"query" must be an object')
  return {
    ms: line.number(fields, 'ms'),
    method: line.text(fields, 'method'),
    code: line.text(fields, 'code'),
    project: line.text(fields, 'project', ''),
    database: line.text(fields, 'database', ''),
    keys: line.objects(fields, 'keys').map((key) => keyOf(line, key)),
    mutations: line.objects(fields, 'mutations').map((mutation) => mutationOf(line, mutation)),
    query: query === undefined ? undefined : queryOf(line, query),
  }
}

function keyOf(line: Line, fields: Fields): RecordedKey {
  const text = line.text(fields, 'key')
  const namespace = line.text(fields, 'namespace', '')
  try {
    return { namespace, path: parseKeyPath(text) }
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    try {
      return { namespace, path: parseKindPath(text) }
    } catch {
      throw line.wrong(error.message)
    }
  }
}

const operations = ['insert', 'update', 'upsert', 'delete'] as const

function mutationOf(line: Line, fields: Fields): RecordedMutation {
  const operation = operations.find((one) => one === fields['operation'])
  if (operation === undefined) throw line.wrong(`"operation" must be one of ${operations.join(', ')}`)
  const indexed = fields['indexed'] ?? {}
  const sizes = isObject(indexed) ? Object.values(indexed).flat() : [undefined]
  if (sizes.some((size) => typeof size !== 'number')) throw line.wrong('"indexed" must have a size for each property')
  return {
    operation,
    key: keyOf(line, fields),
    bytes: line.number(fields, 'bytes', 0),
    indexed: indexed as RecordedMutation['indexed'],
    entity: line.bytes(fields, 'entity'),
  }
}

function queryOf(line: Line, fields: Fields): RecordedQuery {
  const filter = fields['filter']
  if (filter !== undefined && !isObject(filter)) throw line.wrong('"filter" must be an object')
  return {
    namespace: line.text(fields, 'namespace', ''),
    kind: fields['kind'] === undefined ? undefined : line.text(fields, 'kind'),
    projection: line.texts(fields, 'projection'),
    filter: filter === undefined ? undefined : filterOf(line, filter),
    order: line.texts(fields, 'order'),
    distinctOn: line.texts(fields, 'distinctOn'),
    offset: line.number(fields, 'offset', 0),
    limit: fields['limit'] === undefined ? undefined : line.number(fields, 'limit'),
    aggregations: line.texts(fields, 'aggregations'),
    isNearest: fields['nearest'] !== undefined,
    isFromCursor: fields['fromCursor'] !== undefined,
  }
}

function filterOf(line: Line, fields: Fields): RecordedFilter {
  if (fields['and'] !== undefined) return { all: line.objects(fields, 'and').map((one) => filterOf(line, one)) }
  if (fields['or'] !== undefined) return { any: line.objects(fields, 'or').map((one) => filterOf(line, one)) }
  return {
    property: line.text(fields, 'property'),
    operator: line.text(fields, 'operator'),
    bytes: line.number(fields, 'bytes', 0),
    key: fields['key'] === undefined ? undefined : keyOf(line, fields),
    value: line.bytes(fields, 'value'),
  }
}
