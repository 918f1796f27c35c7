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
import type { Key, PartitionId, PathElement } from '../model/key.ts'
import { userMeaning, type Value } from '../model/value.ts'
import { hexOf, invert } from './bytes.ts'
import { decodePartition, decodePath, skipPath } from './key-codec.ts'
import { type KeySpace, keySpaceOf } from './keyspace.ts'
import { type Decoded, decodeInt64, decodeText, decodeUint64 } from './ordered.ts'
import { decodeValueCode, likelyType, skipValue } from './value-codec.ts'

export function prettyRowKey(rowKey: string, value?: Uint8Array): string {
  const space = keySpaceOf(rowKey)
  if (space === undefined) return broken(rowKey, 'no key space')
  try {
    return `${space}(${partsOf[space](rowKey, value).join(', ')})`
  } catch (error) {
    return broken(rowKey, error instanceof Error ? error.message : String(error))
  }
}

/** The parts of a row key from project to key, without its table; `undefined` if it cannot be read. */
export function rowKeyParts(rowKey: string): readonly string[] | undefined {
  const space = keySpaceOf(rowKey)
  if (space === undefined) return undefined
  try {
    return partsOf[space](rowKey, undefined)
  } catch {
    return undefined
  }
}

function broken(rowKey: string, reason: string): string {
  return `unreadable row ${rowKey === '' ? '(empty)' : hexOf(rowKey)} (${reason})`
}

const partsOf: Record<KeySpace, (rowKey: string, value: Uint8Array | undefined) => string[]> = {
  Entities: (rowKey) => {
    const partition = decodePartition(rowKey, 1)
    return [...partitionParts(partition.value), lastPath(rowKey, partition.next)]
  },
  EntitiesByKind: (rowKey) => {
    const partition = decodePartition(rowKey, 1)
    const kind = decodeText(rowKey, partition.next)
    return [...partitionParts(partition.value), word(kind.value), lastPath(rowKey, kind.next)]
  },
  EntitiesByPropertyAsc: (rowKey, value) => propertyParts(rowKey, value, false),
  EntitiesByPropertyDesc: (rowKey, value) => propertyParts(rowKey, value, true),
  EntitiesByCompositeProperty: compositeParts,
  IdSequences: (rowKey) => {
    const database = decodeDatabase(rowKey)
    const scope = remainingTexts(rowKey, database.next)
    return [...partitionParts(database.value), ...scope.map((text) => JSON.stringify(text))]
  },
  Log: groupParts,
  Pending: groupParts,
  Metadata: (rowKey) => {
    const database = decodeDatabase(rowKey)
    const [topic = '', ...parts] = remainingTexts(rowKey, database.next)
    const { projectId, databaseId } = database.value
    const whose = projectId === '' && databaseId === '' ? [] : partitionParts(database.value)
    return [...whose, word(topic), ...parts.map((part) => JSON.stringify(part))]
  },
}

function propertyParts(rowKey: string, value: Uint8Array | undefined, descending: boolean): string[] {
  const partition = decodePartition(rowKey, 1)
  const kind = decodeText(rowKey, partition.next)
  const property = decodeText(rowKey, kind.next)
  const column = decodeColumn(rowKey, property.next, descending, value?.[0])
  return [
    ...partitionParts(partition.value),
    word(kind.value),
    `${word(property.value)}=${column.value}`,
    lastPath(rowKey, column.next),
  ]
}

/**
 * Reads a composite row without its index definition. A path starts with 01, or FE if inverted; no column does. So a path
 * that does not end the row key is the ancestor.
 */
function compositeParts(rowKey: string, value: Uint8Array | undefined): string[] {
  const database = decodeDatabase(rowKey)
  const indexId = decodeInt64(rowKey, database.next)
  const namespace = decodeText(rowKey, database.next + 8)
  const kind = decodeText(rowKey, namespace.next)
  const partition = { ...database.value, namespaceId: namespace.value }
  const parts = [...partitionParts(partition), `index ${indexId}`, word(kind.value)]
  let at = kind.next
  if (rowKey.charCodeAt(at) === 0x01) {
    const { path, next } = decodePath(rowKey, at)
    if (next === rowKey.length) return [...parts, prettyPath(path)]
    parts.push(`ancestor ${prettyPath(path)}`)
    at = next
  }
  for (let column = 0; ; column++) {
    const byte = rowKey.charCodeAt(at)
    if (byte === 0x01) return [...parts, lastPath(rowKey, at)]
    if (byte === 0xfe) return [...parts, `desc ${lastPath(invert(rowKey.slice(at, skipPath(rowKey, at, true))), 0)}`]
    const descending = byte >= 0x80
    const decoded = decodeColumn(rowKey, at, descending, value?.[column])
    parts.push(descending ? `desc ${decoded.value}` : decoded.value)
    at = decoded.next
  }
}

function groupParts(rowKey: string): string[] {
  const partition = decodePartition(rowKey, 1)
  const { path, next } = decodePath(rowKey, partition.next)
  const version = decodeUint64(rowKey, next)
  requireEnd(rowKey, next + 8)
  return [...partitionParts(partition.value), prettyPath(path), version.toString()]
}

function decodeDatabase(rowKey: string): Decoded<PartitionId> {
  const project = decodeText(rowKey, 1)
  const database = decodeText(rowKey, project.next)
  return {
    value: { projectId: project.value, databaseId: database.value, namespaceId: '' },
    next: database.next,
  }
}

function remainingTexts(rowKey: string, offset: number): string[] {
  const texts: string[] = []
  for (let at = offset; at < rowKey.length; ) {
    const text = decodeText(rowKey, at)
    texts.push(text.value)
    at = text.next
  }
  return texts
}

function decodeColumn(
  rowKey: string,
  offset: number,
  descending: boolean,
  typeByte: number | undefined,
): Decoded<string> {
  const next = skipValue(rowKey, offset, descending)
  if (next > rowKey.length) throw new Error('a value goes beyond the end')
  const code = descending ? invert(rowKey.slice(offset, next)) : rowKey.slice(offset, next)
  return { value: prettyValue(decodeValueCode(code, 0, typeByte ?? likelyType(code, 0)).value), next }
}

function lastPath(rowKey: string, offset: number): string {
  const { path, next } = decodePath(rowKey, offset)
  requireEnd(rowKey, next)
  return prettyPath(path)
}

function requireEnd(rowKey: string, end: number): void {
  if (end !== rowKey.length) throw new Error(`bytes left after byte ${end}`)
}

/** Quoted unless it consists of plain letters. */
function word(text: string): string {
  return /^[\p{L}\p{N}_.:-]+$/u.test(text) ? text : JSON.stringify(text)
}

function partitionParts({ projectId, databaseId, namespaceId }: PartitionId): string[] {
  const parts = [word(projectId)]
  if (databaseId !== '') parts.push(`db=${word(databaseId)}`)
  if (namespaceId !== '') parts.push(`ns=${word(namespaceId)}`)
  return parts
}

/** `ToDo:1`, `User:"ada"/ToDo:?`; unusual kinds in quotes. */
export function prettyPath(path: readonly PathElement[]): string {
  return path
    .map(
      ({ kind, id, name }) =>
        `${word(kind)}:${id !== undefined ? id : name !== undefined ? JSON.stringify(name) : '?'}`,
    )
    .join('/')
}

/** `p, ns=n, ToDo:1`. */
export function prettyKey(key: Key): string {
  return [...partitionParts(key.partition), prettyPath(key.path)].join(', ')
}

/** `5`, `5.0`, `"ada"`, `0x00ff`, `key(p, ToDo:1)`, `[1, null]`, `{a: 1}`. */
export function prettyValue(value: Value): string {
  switch (value.type) {
    case 'null':
      return 'null'
    case 'integer':
      return value.value.toString()
    case 'timestamp':
      return prettyTimestamp(value.micros)
    case 'boolean':
      return value.value ? 'true' : 'false'
    case 'string':
      return JSON.stringify(value.value)
    case 'blob':
      return `0x${hexOf(value.value, '')}`
    case 'double':
      return prettyDouble(value.value)
    case 'geoPoint':
      return `geo(${prettyDouble(value.latitude)}, ${prettyDouble(value.longitude)})`
    case 'key':
      return `key(${prettyKey(value.key)})`
    case 'array':
      return `[${value.values.map(prettyValue).join(', ')}]`
    case 'entity': {
      const fields = [...value.properties].map(([name, field]) => `${word(name)}: ${prettyValue(field)}`)
      if (value.meaning === userMeaning) return `user(${fields.join(', ')})`
      return `{${fields.join(', ')}}`
    }
  }
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
