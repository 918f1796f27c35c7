/**
 * Message types as JSON has them: of the descriptors what the two one-pass codecs look at for each member, made once for each
 * type.
 *
 *   DescMessage ─▶ JsonType { fields by number, and by both of their names }
 *
 * J1  What is not plain goes to the library, whole: it alone says what an unusual message means, or why it is refused.
 *
 * Known: the proto3 JSON mapping.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'

/** Thrown by the one-pass codecs at the first thing that they leave to the library (J1). */
export class NotPlain extends Error {
  override readonly name = 'NotPlain'
}

/** One for all: nobody reads where it was thrown. */
export const notPlain: NotPlain = new NotPlain('left to the library')

/** Messages nested deeper are left to the library, which bounds them. */
export const plainDepthMax = 60

export type JsonKind =
  | 'int64'
  | 'int32'
  | 'bool'
  | 'enum'
  | 'null'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'int32Value'
  | 'message'
  | 'other'

export interface JsonField {
  readonly number: number
  readonly kind: JsonKind
  readonly isList: boolean
  /** From texts to `kind`. */
  readonly isMap: boolean
  /** Number and wire type, as one varint before each value; of a map, before each entry. */
  readonly tag: number
  /** Left out while it has the default value. */
  readonly isImplicit: boolean
  /** A bit for its oneof; 0 without one. */
  readonly oneofBit: number
  /** `"name": ` */
  readonly label: Uint8Array
  /** Of `message`. */
  readonly type: JsonType | undefined
  /** Of `enum`: numbers by name, and names with their quotes by number. */
  readonly enumNumbers: ReadonlyMap<string, number>
  readonly enumTexts: ReadonlyMap<number, Uint8Array>
}

export interface JsonType {
  readonly byNumber: readonly (JsonField | undefined)[]
  /** By the name in JSON, and by that of the proto. */
  readonly byName: ReadonlyMap<string, JsonField>
}

const types = new Map<DescMessage, JsonType>()

export function jsonTypeOf(message: DescMessage): JsonType {
  const known = types.get(message)
  if (known !== undefined) return known
  const byNumber: (JsonField | undefined)[] = []
  const byName = new Map<string, JsonField>()
  const type: JsonType = { byNumber, byName }
  // Before its fields, which may be of its own type.
  types.set(message, type)
  for (const descriptor of message.fields) {
    const field = fieldOf(descriptor, message)
    for (let number = byNumber.length; number < field.number; number++) byNumber.push(undefined)
    byNumber[field.number] = field
    byName.set(descriptor.name, field).set(descriptor.jsonName, field)
  }
  return type
}

const wireTypes: Readonly<Record<JsonKind, number>> = {
  int64: 0,
  int32: 0,
  bool: 0,
  enum: 0,
  null: 0,
  double: 1,
  string: 2,
  bytes: 2,
  timestamp: 2,
  int32Value: 2,
  message: 2,
  other: 2,
}

/** FeatureSet.FieldPresence.IMPLICIT */
const implicitPresence = 2

function fieldOf(field: DescField, owner: DescMessage): JsonField {
  const isList = field.fieldKind === 'list'
  const isMap = field.fieldKind === 'map'
  const kind = isMap && field.mapKey !== ScalarType.STRING ? 'other' : kindOf(field)
  const wireType = wireTypes[kind]
  const values = field.enum?.values ?? []
  return {
    number: field.number,
    // Lists of numbers are packed, and there are none in the data API.
    kind: isList && wireType !== 2 ? 'other' : kind,
    isList,
    isMap,
    tag: field.number * 8 + (isMap ? 2 : wireType),
    isImplicit: !isList && !isMap && field.presence === implicitPresence,
    oneofBit: field.oneof === undefined ? 0 : 1 << owner.oneofs.indexOf(field.oneof),
    label: Buffer.from(`${JSON.stringify(field.jsonName)}: `),
    type: kind === 'message' && field.message !== undefined ? jsonTypeOf(field.message) : undefined,
    enumNumbers: new Map(values.map(({ name, number }) => [name, number])),
    enumTexts: new Map(values.map(({ name, number }) => [number, Buffer.from(`"${name}"`)])),
  }
}

function kindOf({ scalar, enum: enumeration, message }: DescField): JsonKind {
  if (scalar !== undefined) return scalarKinds.get(scalar) ?? 'other'
  if (enumeration !== undefined) return enumeration.typeName === 'google.protobuf.NullValue' ? 'null' : 'enum'
  if (message?.typeName === 'google.protobuf.Timestamp') return 'timestamp'
  if (message?.typeName === 'google.protobuf.Int32Value') return 'int32Value'
  return message === undefined || message.typeName.startsWith('google.protobuf.') ? 'other' : 'message'
}

const scalarKinds: ReadonlyMap<ScalarType, JsonKind> = new Map([
  [ScalarType.INT64, 'int64'],
  [ScalarType.INT32, 'int32'],
  [ScalarType.BOOL, 'bool'],
  [ScalarType.DOUBLE, 'double'],
  [ScalarType.STRING, 'string'],
  [ScalarType.BYTES, 'bytes'],
])
