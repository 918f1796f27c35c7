/**
 * Arbitrary keys and values for property tests, weighted towards difficult orders and encodings.
 *
 * Some draws are from small pools, so that two draws are often equal, or one is a prefix of the other. Others are edge cases:
 * zero and FF bytes, characters whose UTF-16 order differs from their UTF-8 order, extreme numbers, long texts. All texts are
 * well formed, as protocol buffers require.
 *
 * `keys`, `paths` and so on are valid for a client: no empty kind or name, no id 0, no reserved `__name__`. The `any…` ones
 * include others, which only a codec must accept.
 */
import fc from 'fast-check'
import type { IndexDefinition } from '../../src/model/index-definition.ts'
import type { Key, PartitionId, PathElement } from '../../src/model/key.ts'
import { type EntityValue, type IndexableValue, userMeaning, type Value } from '../../src/model/value.ts'

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

/** Characters that end, escape or misorder texts: 00, 01, FF, the edges of UTF-8's lengths and of the surrogates. */
const edgeCharacters = [
  '\u0000',
  '\u0001',
  '\u0002',
  '\u007f',
  '\u0080',
  '\u00fe',
  '\u00ff',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
] as const

const character: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 2, arbitrary: fc.constantFrom(...edgeCharacters) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
)

/** Any well-formed text, sometimes empty or 1,500 bytes long, the indexed maximum. */
export const anyTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: character, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.constantFrom('', 'a', 'aa', 'ab', 'a\u0000', 'a\u0000b', 'a\u0001', 'é', '\uffff') },
  { weight: 1, arbitrary: fc.string({ unit: character, maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('a', '\u0000', '\u007f'), fc.constantFrom('', 'a', 'b', '\u00e9'))
      .map(([unit, last]) => unit.repeat(1500 - 2 * last.length) + last),
  },
)

const isPlain = (text: string): boolean => text !== '' && !/^__.*__$/s.test(text)

/** A kind, name or property name that a client may use. */
export const names: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'ab', 'B', 'a.b', '1') },
  { weight: 1, arbitrary: anyTexts.filter(isPlain) },
)

/** Kinds, mostly one of three, so that entities share them. */
export const kinds: fc.Arbitrary<string> = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('A', 'B', 'AB') },
  { weight: 1, arbitrary: names },
)

/** Any signed 64-bit integer: small, extreme, near powers of two, or random. */
export const int64s: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: -3n, max: 3n }) },
  { weight: 1, arbitrary: fc.constantFrom(int64Min, int64Min + 1n, int64Max - 1n, int64Max) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 0, max: 62 }), fc.integer({ min: -1, max: 1 }), fc.boolean())
      .map(([bit, off, negative]) => (negative ? -1n : 1n) * (2n ** BigInt(bit) + BigInt(off))),
  },
  { weight: 1, arbitrary: fc.bigInt({ min: int64Min, max: int64Max }) },
)

/** Ids that a client may write: not 0. */
export const ids: fc.Arbitrary<bigint> = int64s.filter((id) => id !== 0n)

const edgeDoubles = [
  0,
  -0,
  1,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  2.2250738585072014e-308,
  -2.2250738585072014e-308,
  2.225073858507201e-308,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2 ** 53,
  2 ** 53 + 2,
] as const

/** Any double: both zeros, NaN, infinities, subnormal numbers. */
export const doubles: fc.Arbitrary<number> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...edgeDoubles) },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 2, arbitrary: fc.double() },
)

/** Bytes, many of them 00 and FF; sometimes 1,500. */
export const byteArrays: fc.Arbitrary<Uint8Array> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.oneof(fc.constantFrom(0, 1, 0xff, 0x61), fc.nat({ max: 255 })), { maxLength: 5 })
      .map((bytes) => Uint8Array.from(bytes)),
  },
  { weight: 1, arbitrary: fc.constantFrom(0, 0xff, 0x61).map((byte) => new Uint8Array(1500).fill(byte)) },
)

/** Partitions, mostly the same one. */
export const partitions: fc.Arbitrary<PartitionId> = fc.record({
  projectId: fc.oneof({ weight: 4, arbitrary: fc.constant('p') }, { weight: 1, arbitrary: fc.constantFrom('pp', 'q') }),
  databaseId: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom('d', 'dd') }),
  namespaceId: fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('n', 'nn', 'N-1.x_') },
  ),
})

/** Partitions with any texts. */
export const anyPartitions: fc.Arbitrary<PartitionId> = fc.oneof(
  partitions,
  fc.record({ projectId: anyTexts, databaseId: anyTexts, namespaceId: anyTexts }),
)

/** Paths of complete elements, from the arbitraries of their parts. */
function pathsOf(
  kind: fc.Arbitrary<string>,
  id: fc.Arbitrary<bigint>,
  name: fc.Arbitrary<string>,
  maxLength: number,
): fc.Arbitrary<PathElement[]> {
  const element: fc.Arbitrary<PathElement> = fc.oneof(
    fc.record({
      kind,
      id: fc.oneof({ weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 3n }) }, { weight: 1, arbitrary: id }),
    }),
    fc.record({ kind, name }),
  )
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(element, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(element, { minLength: 1, maxLength }) },
  )
}

/** Complete paths that a client may write, mostly of one to three elements. */
export const paths: fc.Arbitrary<PathElement[]> = pathsOf(kinds, ids, names, 8)

/** Complete paths with any texts and ids, up to Datastore's limit of 100 elements. */
export const anyPaths: fc.Arbitrary<PathElement[]> = pathsOf(
  fc.oneof(kinds, anyTexts),
  int64s,
  anyTexts.map((text) => Array.from(text).slice(0, 40).join('')),
  100,
)

/** Complete keys that a client may write. */
export const keys: fc.Arbitrary<Key> = fc.record({ partition: partitions, path: paths })

/** Keys of one partition. */
export function keysIn(partition: PartitionId): fc.Arbitrary<Key> {
  return paths.map((path) => ({ partition, path }))
}

/** Complete keys with any texts and ids. */
export const anyKeys: fc.Arbitrary<Key> = fc.record({ partition: anyPartitions, path: anyPaths })

/** A user value with any of the five fields that decide the order of users. */
export const users: fc.Arbitrary<EntityValue> = fc
  .record(
    {
      email: anyTexts,
      auth_domain: anyTexts,
      user_id: anyTexts,
      federated_identity: anyTexts,
      federated_provider: anyTexts,
    },
    { requiredKeys: [] },
  )
  .map((fields) => ({
    type: 'entity',
    meaning: userMeaning,
    properties: new Map(Object.entries(fields).map(([name, value]) => [name, { type: 'string', value }])),
  }))

/** 0001-01-01 to 9999-12-31, in microseconds. */
export const timestampMicros: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 2, arbitrary: fc.bigInt({ min: -3n, max: 3n }) },
  { weight: 1, arbitrary: fc.constantFrom(-62_135_596_800_000_000n, 253_402_300_799_999_999n) },
  { weight: 1, arbitrary: fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }) },
)

/** The values of a type, and the weight with which they are drawn. */
type Drawn<T extends IndexableValue> = { readonly weight: number; readonly arbitrary: fc.Arbitrary<T> }

const indexableByType: { readonly [T in IndexableValue['type']]: Drawn<Extract<IndexableValue, { type: T }>> } = {
  null: { weight: 1, arbitrary: fc.constant({ type: 'null' }) },
  integer: { weight: 3, arbitrary: int64s.map((value) => ({ type: 'integer', value })) },
  timestamp: { weight: 2, arbitrary: timestampMicros.map((micros) => ({ type: 'timestamp', micros })) },
  boolean: { weight: 1, arbitrary: fc.boolean().map((value) => ({ type: 'boolean', value })) },
  string: { weight: 3, arbitrary: anyTexts.map((value) => ({ type: 'string', value })) },
  blob: { weight: 2, arbitrary: byteArrays.map((value) => ({ type: 'blob', value })) },
  double: { weight: 3, arbitrary: doubles.map((value) => ({ type: 'double', value })) },
  geoPoint: {
    weight: 1,
    arbitrary: fc.tuple(doubles, doubles).map(([latitude, longitude]) => ({ type: 'geoPoint', latitude, longitude })),
  },
  entity: { weight: 1, arbitrary: users },
  key: { weight: 2, arbitrary: keys.map((key) => ({ type: 'key', key })) },
}

/** Values of every type that index rows can contain; values of two types are often equal in order. */
export const indexableValues: fc.Arbitrary<IndexableValue> = fc.oneof(
  ...(Object.values(indexableByType) as readonly Drawn<IndexableValue>[]),
)

/** Values for query tests: few and small, so that filters match. */
export const fewValues: fc.Arbitrary<IndexableValue> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<IndexableValue>({ type: 'null' }) },
  {
    weight: 4,
    arbitrary: fc.bigInt({ min: 0n, max: 3n }).map((value): IndexableValue => ({ type: 'integer', value })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<IndexableValue>({ type: 'timestamp', micros: 1n }, { type: 'double', value: 1 }),
  },
  { weight: 2, arbitrary: fc.constantFrom('a', 'b', 'ab').map((value): IndexableValue => ({ type: 'string', value })) },
  { weight: 1, arbitrary: fc.boolean().map((value): IndexableValue => ({ type: 'boolean', value })) },
)

/** A geo point that a client may write. */
const geoPoints: fc.Arbitrary<Value> = fc
  .tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true }))
  .map(([latitude, longitude]): Value => ({ type: 'geoPoint', latitude, longitude }))

const plainValues: fc.Arbitrary<Value> = fc.oneof(
  { weight: 6, arbitrary: indexableValues.filter((value) => value.type !== 'geoPoint') },
  { weight: 1, arbitrary: geoPoints },
)

/** Any property value, with nested entities and arrays up to three deep; arrays do not directly contain arrays. */
export const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value; element: Value; entity: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: plainValues },
    { weight: 1, arbitrary: tie('entity') },
    {
      weight: 1,
      arbitrary: fc
        .array(tie('element'), { maxLength: 4 })
        .map((elements): Value => ({ type: 'array', values: elements })),
    },
  ),
  element: fc.oneof({ maxDepth: 3 }, { weight: 4, arbitrary: plainValues }, { weight: 1, arbitrary: tie('entity') }),
  entity: fc
    .array(fc.tuple(names, tie('value')), { maxLength: 3 })
    .map((fields): Value => ({ type: 'entity', properties: new Map(fields) })),
})).value

/** The properties of an entity, some of them excluded from indexes. */
export const propertyMaps: fc.Arbitrary<Map<string, Value>> = fc
  .array(
    fc.tuple(
      names,
      fc
        .tuple(values, fc.boolean())
        .map(([value, excluded]) => (excluded ? { ...value, excludeFromIndexes: true } : value)),
    ),
    { maxLength: 5 },
  )
  .map((entries) => new Map<string, Value>(entries))

/** Definitions over a few kinds and properties, sometimes with `__key__` at the end. */
export const indexDefinitions: fc.Arbitrary<IndexDefinition> = fc
  .record({
    kind: fc.constantFrom('A', 'B'),
    ancestor: fc.boolean(),
    names: fc.uniqueArray(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 3 }),
    directions: fc.array(fc.constantFrom('ascending' as const, 'descending' as const), { minLength: 4, maxLength: 4 }),
    endsWithKey: fc.boolean(),
  })
  .map(({ kind, ancestor, names: columns, directions, endsWithKey }) => ({
    kind,
    ancestor,
    properties: (endsWithKey ? [...columns, '__key__'] : columns).map((name, i) => ({
      name,
      direction: directions[i] ?? 'ascending',
    })),
  }))
  .filter(({ ancestor, properties }) => ancestor || properties.length > 1)
