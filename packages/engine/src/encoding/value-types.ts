/**
 * The types of property values (one row each), and the classes of value codes (one row each).
 *
 *   field        number of the type's member in google.datastore.v1.Value; payload: its wire form
 *   typeByte     the type in an index row's value byte; a type without one is not indexed itself
 *   classes      the classes of its value codes; types that sort as one, such as strings and blobs, share a class
 *   statistics   its name in statistics and property metadata
 *   byte, body   of a class: the first byte of a value code, and its rest; index: its name where index rows are listed
 *
 * A new type without its row, or without its place in a codec, does not compile; CONTRIBUTING.md adds one step by step.
 *
 * Known: google/datastore/v1/entity.proto for the fields; the names of statistics. Ours: the bytes.
 */
import type { IndexableValue, ValueType } from '../model/value.ts'

interface TypeRow {
  readonly field: number
  readonly payload: Payload
  readonly typeByte: number | undefined
  readonly classes: readonly ValueClass[]
  readonly statistics: string | undefined
}

/** `message`: bytes that are merged if the member appears twice. */
export type Payload = 'varint' | 'fixed64' | 'bytes' | 'message'

export const valueTypes = {
  null: { field: 11, payload: 'varint', typeByte: 0, classes: ['null'], statistics: 'NULL' },
  integer: { field: 2, payload: 'varint', typeByte: 1, classes: ['int64'], statistics: 'Integer' },
  timestamp: { field: 10, payload: 'message', typeByte: 2, classes: ['int64'], statistics: 'Date/Time' },
  boolean: { field: 1, payload: 'varint', typeByte: 3, classes: ['false', 'true'], statistics: 'Boolean' },
  string: { field: 17, payload: 'bytes', typeByte: 4, classes: ['bytes'], statistics: 'String' },
  blob: { field: 18, payload: 'bytes', typeByte: 5, classes: ['bytes'], statistics: 'Blob' },
  double: { field: 3, payload: 'fixed64', typeByte: 6, classes: ['double'], statistics: 'Float' },
  geoPoint: { field: 8, payload: 'message', typeByte: 7, classes: ['geoPoint'], statistics: 'GeoPt' },
  entity: { field: 6, payload: 'message', typeByte: 8, classes: ['user'], statistics: 'EmbeddedEntity' },
  key: { field: 5, payload: 'message', typeByte: 9, classes: ['key'], statistics: 'Key' },
  array: { field: 9, payload: 'message', typeByte: undefined, classes: [], statistics: undefined },
} as const

/** `body`: a number of bytes; `text` and `user` are one text and five; `key` is a whole key. */
interface ClassRow {
  readonly byte: number
  readonly body: number | 'text' | 'user' | 'key'
  readonly index: string
}

export const valueClasses = {
  null: { byte: 0x10, body: 0, index: 'NULL' },
  int64: { byte: 0x18, body: 8, index: 'INT64' },
  false: { byte: 0x20, body: 0, index: 'BOOLEAN' },
  true: { byte: 0x21, body: 0, index: 'BOOLEAN' },
  bytes: { byte: 0x28, body: 'text', index: 'STRING' },
  double: { byte: 0x30, body: 8, index: 'DOUBLE' },
  geoPoint: { byte: 0x38, body: 16, index: 'POINT' },
  user: { byte: 0x40, body: 'user', index: 'USER' },
  key: { byte: 0x48, body: 'key', index: 'REFERENCE' },
} as const

export type ValueClass = keyof typeof valueClasses

type FieldOf = { readonly [T in ValueType]: (typeof valueTypes)[T]['field'] }
type TypeByteOf = { readonly [T in IndexableValue['type']]: (typeof valueTypes)[T]['typeByte'] }

export type ValueMember = FieldOf[ValueType]

/** Requires a row for each type, and a type byte for each that can be in an index row. */
type TypeTable = Readonly<Record<ValueType, TypeRow>> &
  Readonly<Record<IndexableValue['type'], { readonly typeByte: number }>>

const typeRows = Object.entries(valueTypes satisfies TypeTable) as readonly (readonly [ValueType, TypeRow])[]
const classRows = Object.entries(valueClasses satisfies Readonly<Record<ValueClass, ClassRow>>) as readonly (readonly [
  ValueClass,
  ClassRow,
])[]

/** Field numbers of Value: the members of its oneof, and the two flags. */
export const valueField: FieldOf & { readonly meaning: 14; readonly excludeFromIndexes: 19 } = {
  ...(Object.fromEntries(typeRows.map(([type, { field }]) => [type, field])) as FieldOf),
  meaning: 14,
  excludeFromIndexes: 19,
}

export const typeBytes: TypeByteOf = Object.fromEntries(
  typeRows.flatMap(([type, { typeByte }]) => (typeByte === undefined ? [] : [[type, typeByte]])),
) as TypeByteOf

export const typeOfMember: readonly (ValueType | undefined)[] = byNumber(
  typeRows.map(([type, { field }]) => [field, type]),
)

export const typeByteOfMember: readonly (number | undefined)[] = byNumber(
  typeRows.map(([, { field, typeByte }]) => [field, typeByte]),
)

export const payloadOfMember: readonly (Payload | undefined)[] = byNumber(
  typeRows.map(([, { field, payload }]) => [field, payload]),
)

export const classOfByte: readonly (ValueClass | undefined)[] = byNumber(
  classRows.map(([name, { byte }]) => [byte, name]),
)

export const firstTypeOf: Readonly<Record<ValueClass, IndexableValue['type']>> = Object.fromEntries(
  classRows.map(([name]) => [name, typeRows.find(([, { classes }]) => classes.includes(name))?.[0]]),
) as Record<ValueClass, IndexableValue['type']>

/** A list of 256, so that no byte is out of its range. */
function byNumber<T>(rows: readonly (readonly [number, T])[]): readonly (T | undefined)[] {
  const list = new Array<T | undefined>(256).fill(undefined)
  for (const [number, value] of rows) list[number] = value
  return list
}
