/**
 * Row keys and values in a readable form, for the checker, the inspector, golden scripts and labs.
 *
 *   Entities(p, ToDo:1)                                     project, then path
 *   EntitiesByPropertyDesc(p, db=d, ns=n, ToDo, owner="ada", ToDo:1)   database and namespace unless empty
 *   EntitiesByCompositeProperty(p, index 7, ToDo, ancestor User:"ada", 3, desc 5, ToDo:1)
 *
 * Inverted columns are shown by their real value. Types are read from the row's value if it is given; without it a timestamp is shown
 * as an integer. Nothing here throws: unreadable bytes are shown in hex, with the reason.
 */
import { type DatabaseName, identifierOf, type Key, type PartitionId, type PathElement } from '../model/key.ts'
import { userMeaning, type Value } from '../model/value.ts'
import { hexOf } from './bytes.ts'
import { type KeySpace, keySpaceOf } from './keyspace.ts'
import { RowReader } from './row-reader.ts'
import { decodeValueCode, likelyType } from './value-codec.ts'

export function prettyRowKey(rowKey: string, value?: Uint8Array): string {
  const parts = partsIn(rowKey, value)
  if (typeof parts !== 'string') return `${keySpaceOf(rowKey)}(${parts.join(', ')})`
  return `unreadable row ${rowKey === '' ? '(empty)' : hexOf(rowKey)} (${parts})`
}

/** The parts of a row key from project to key, without its table; `undefined` if it cannot be read. */
export function rowKeyParts(rowKey: string): readonly string[] | undefined {
  const parts = partsIn(rowKey, undefined)
  return typeof parts === 'string' ? undefined : parts
}

/** @returns a text with the reason if it cannot be read */
function partsIn(rowKey: string, value: Uint8Array | undefined): readonly string[] | string {
  const space = keySpaceOf(rowKey)
  if (space === undefined) return 'no key space'
  try {
    return partsOf[space](new RowReader(rowKey), value)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const partsOf: Record<KeySpace, (row: RowReader, value: Uint8Array | undefined) => string[]> = {
  Entities: (row) => [...partitionParts(row.partition()), prettyPath(row.lastPath())],
  EntitiesByKind: (row) => [...partitionParts(row.partition()), word(row.text()), prettyPath(row.lastPath())],
  EntitiesByPropertyAsc: (row, value) => propertyParts(row, value, false),
  EntitiesByPropertyDesc: (row, value) => propertyParts(row, value, true),
  EntitiesByCompositeProperty: compositeParts,
  IdSequences: (row) => [...partitionParts(row.database()), ...row.texts().map((text) => JSON.stringify(text))],
  Log: groupParts,
  Pending: groupParts,
  Metadata: (row) => {
    const { projectId, databaseId } = row.database()
    const [topic = '', ...parts] = row.texts()
    const whose = projectId === '' && databaseId === '' ? [] : partitionParts({ projectId, databaseId })
    return [...whose, word(topic), ...parts.map((part) => JSON.stringify(part))]
  },
}

function propertyParts(row: RowReader, value: Uint8Array | undefined, isDescending: boolean): string[] {
  const parts = [...partitionParts(row.partition()), word(row.text())]
  const column = `${word(row.text())}=${columnWords(row, isDescending, value?.[0])}`
  return [...parts, column, prettyPath(row.lastPath())]
}

/**
 * Reads a composite row without its index definition. A path starts with 01, or FE if inverted; no column does. So a path
 * that does not end the row key is the ancestor.
 */
function compositeParts(row: RowReader, value: Uint8Array | undefined): string[] {
  const database = row.database()
  const indexId = row.int64()
  const parts = [...partitionParts({ ...database, namespaceId: row.text() }), `index ${indexId}`, word(row.text())]
  if (row.byte === 0x01) {
    const path = prettyPath(row.path())
    if (row.isAtEnd) return [...parts, path]
    parts.push(`ancestor ${path}`)
  }
  for (let column = 0; row.byte !== 0x01; column++) {
    if (row.byte === 0xfe) return [...parts, `desc ${prettyPath(row.lastPath(true))}`]
    const isDescending = row.byte >= 0x80
    const words = columnWords(row, isDescending, value?.[column])
    parts.push(isDescending ? `desc ${words}` : words)
  }
  return [...parts, prettyPath(row.lastPath())]
}

function groupParts(row: RowReader): string[] {
  const parts = [...partitionParts(row.partition()), prettyPath(row.path()), row.uint64().toString()]
  row.end()
  return parts
}

function columnWords(row: RowReader, isDescending: boolean, typeByte: number | undefined): string {
  const code = row.value(isDescending)
  return prettyValue(decodeValueCode(code, 0, typeByte ?? likelyType(code, 0)).value)
}

function word(text: string): string {
  return /^[\p{L}\p{N}_.:-]+$/u.test(text) ? text : JSON.stringify(text)
}

function partitionParts({ projectId, databaseId, namespaceId = '' }: DatabaseName & Partial<PartitionId>): string[] {
  const parts = [word(projectId)]
  if (databaseId !== '') parts.push(`db=${word(databaseId)}`)
  if (namespaceId !== '') parts.push(`ns=${word(namespaceId)}`)
  return parts
}

/** `ToDo:1`, `User:"ada"/ToDo:?`; unusual kinds in quotes. */
export function prettyPath(path: readonly PathElement[]): string {
  return path.map((element) => `${word(element.kind)}:${identifierOf(element)}`).join('/')
}

/** `p, ns=n, ToDo:1`. */
export function prettyKey(key: Key): string {
  return [...partitionParts(key.partition), prettyPath(key.path)].join(', ')
}

const valueWords: { readonly [T in Value['type']]: (value: Extract<Value, { type: T }>) => string } = {
  null: () => 'null',
  integer: ({ value }) => value.toString(),
  timestamp: ({ micros }) => prettyTimestamp(micros),
  boolean: ({ value }) => String(value),
  string: ({ value }) => JSON.stringify(value),
  blob: ({ value }) => `0x${hexOf(value, '')}`,
  double: ({ value }) => prettyDouble(value),
  geoPoint: ({ latitude, longitude }) => `geo(${prettyDouble(latitude)}, ${prettyDouble(longitude)})`,
  key: ({ key }) => `key(${prettyKey(key)})`,
  array: ({ values }) => `[${values.map(prettyValue).join(', ')}]`,
  entity: ({ meaning, properties }) => {
    const fields = [...properties].map(([name, field]) => `${word(name)}: ${prettyValue(field)}`).join(', ')
    return meaning === userMeaning ? `user(${fields})` : `{${fields}}`
  },
}

/** `5`, `5.0`, `"ada"`, `0x00ff`, `key(p, ToDo:1)`, `[1, null]`, `{a: 1}`. */
export function prettyValue(value: Value): string {
  return (valueWords[value.type] as (value: Value) => string)(value)
}

/** Always with a point or an exponent, unlike an integer. */
function prettyDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const digits = String(value)
  return /^-?\d+$/.test(digits) ? `${digits}.0` : digits
}

/** RFC 3339 with six digits of a second; `timestamp(<microseconds>)` outside the years 1 to 9999. */
export function prettyTimestamp(micros: bigint): string {
  if (micros < -62_135_596_800_000_000n || micros > 253_402_300_799_999_999n) return `timestamp(${micros})`
  const milliseconds = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  const rest = (micros - milliseconds * 1000n).toString().padStart(3, '0')
  return new Date(Number(milliseconds)).toISOString().replace('Z', `${rest}Z`)
}
