/**
 * The entities that exports.ts writes, in the JSON of the data API: one of kind Value for each kind of value, and
 * some keys that are not plain. `onlyOurs` are values that Google's emulators refuse, with what they read instead.
 */
interface PathElement {
  readonly kind: string
  readonly id?: string
  readonly name?: string
}

/** A value in the JSON of the data API. */
type Value = Readonly<Record<string, unknown>>
type Values = Readonly<Record<string, Value>>

export interface Entity {
  readonly key: { readonly partitionId: object; readonly path: readonly PathElement[] }
  readonly properties?: Values
}

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const excluded = (value: Value): Value => ({ ...value, excludeFromIndexes: true })
const array = (...values: readonly Value[]): Value => ({ arrayValue: { values } })
const entity = (properties: Values, key?: object): Value => ({
  entityValue: { ...(key === undefined ? {} : { key }), properties },
})
const text = (stringValue: string): Value => ({ stringValue })
const integer = (value: number | string): Value => ({ integerValue: String(value) })
const user = (fields: Readonly<Record<string, string>>): Value => ({
  ...entity(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, excluded(text(value))]))),
  meaning: 20,
})

const time = { timestampValue: '2030-01-31T01:02:03.456789Z' }
const geo = { geoPointValue: { latitude: 1.25, longitude: -2.5 } }
const key = {
  keyValue: {
    partitionId: { projectId: 'p' },
    path: [
      { kind: 'A', id: '1' },
      { kind: 'B', name: 'x' },
    ],
  },
}
const blob = { blobValue: base64('\0\xff abc') }

const values: Values = {
  null: { nullValue: null },
  nullExcluded: excluded({ nullValue: null }),
  true: { booleanValue: true },
  false: { booleanValue: false },
  zero: integer(0),
  negative: integer(-7),
  integerMax: integer('9223372036854775807'),
  integerMin: integer('-9223372036854775808'),
  integerExcluded: excluded(integer(5)),
  double: { doubleValue: 1.5 },
  nan: { doubleValue: 'NaN' },
  infinity: { doubleValue: '-Infinity' },
  timestamp: time,
  timestampBefore1970: { timestampValue: '1960-01-01T00:00:00.000001Z' },
  timestampFirst: { timestampValue: '0001-01-01T00:00:00Z' },
  timestampLast: { timestampValue: '9999-12-31T23:59:59.999999Z' },
  timestampExcluded: excluded(time),
  beyondTimestamps: { ...integer('9223372036854775807'), meaning: 7 },
  string: text('héllo 😀'),
  stringEmpty: text(''),
  stringExcluded: excluded(text('not indexed')),
  text: excluded({ ...text('a text'), meaning: 15 }),
  textLong: excluded(text('0123456789'.repeat(7000))),
  blob,
  blobEmpty: { blobValue: '' },
  blobExcluded: excluded(blob),
  byteString: excluded({ ...blob, meaning: 16 }),
  compressed: excluded({ ...blob, meaning: 22 }),
  geoPoint: geo,
  geoPointZero: { geoPointValue: { latitude: 0, longitude: 0 } },
  geoPointExcluded: excluded(geo),
  key,
  keyOfNamespace: {
    keyValue: { partitionId: { projectId: 'p', namespaceId: 'ns2' }, path: [{ kind: 'A', id: '-5' }] },
  },
  keyExcluded: excluded(key),
  user: user({ email: 'a@example.com', auth_domain: 'example.com', user_id: '123' }),
  userWhole: excluded(
    user({ email: 'a', auth_domain: 'b', user_id: 'c', federated_identity: 'd', federated_provider: 'e' }),
  ),
  entity: entity({
    a: integer(1),
    b: excluded(text('x')),
    list: array(integer(1), integer(2)),
    none: { arrayValue: {} },
    nothing: { nullValue: null },
    inner: entity({ time, geo, key, blob, packed: excluded({ ...blob, meaning: 22 }) }),
  }),
  entityEmpty: entity({}),
  entityExcluded: excluded(entity({ a: integer(1) })),
  entityWithKey: entity({ a: integer(1) }, key.keyValue),
  entityWithIncompleteKey: entity({ a: integer(1) }, { partitionId: { projectId: 'p' }, path: [{ kind: 'A' }] }),
  array: array(integer(1), text('s'), { nullValue: null }, integer(1), { doubleValue: 2.5 }, { booleanValue: false }),
  arrayOfOne: array(integer(1)),
  arrayOfNull: array({ nullValue: null }),
  arrayEmpty: { arrayValue: {} },
  arrayExcluded: array(excluded(integer(1)), excluded(text('x'))),
  arrayMixed: array(integer(1), text('both'), excluded(integer(2))),
  arrayOfAll: array(
    time,
    blob,
    geo,
    key,
    entity({ a: integer(1) }),
    user({ email: 'a', auth_domain: 'b', user_id: 'c' }),
  ),
  ...Object.fromEntries([1, 2, 8, 10, 11, 12, 17].map((meaning) => [`meaning${meaning}`, { ...text('x'), meaning }])),
  rating: { ...integer(50), meaning: 13 },
}

function one(path: readonly PathElement[], properties: Values, namespaceId?: string): Entity {
  const partitionId = { projectId: 'p', ...(namespaceId === undefined ? {} : { namespaceId }) }
  return { key: { partitionId, path }, properties }
}

const ofKindValue = (named: Values): readonly Entity[] =>
  Object.entries(named).map(([name, value]) => one([{ kind: 'Value', name }], { value }))

export const entities: readonly Entity[] = [
  ...ofKindValue(values),
  one([{ kind: 'Task', id: '1' }], { 'dotted.name': integer(1), ünï: integer(2), ' ': integer(3) }),
  one([{ kind: 'Task', id: '4503599627370496' }], {}),
  one([{ kind: 'Task', id: '-5' }], { done: { booleanValue: true } }),
  one([{ kind: 'Task', name: 'a/b:c "q"' }], {}),
  one([{ kind: 'Slash/Kind', name: 'n' }], {}, 'n.s-1'),
  one(
    [
      { kind: 'Parent', name: 'par' },
      { kind: 'Middle', id: '77' },
      { kind: 'Child', id: '5' },
    ],
    { a: integer(1) },
    'space',
  ),
]

const only = {
  arrayInterleaved: {
    value: array(excluded(integer(1)), integer(2), excluded(integer(3)), integer(4)),
    elsewhere: array(integer(2), integer(4), excluded(integer(1)), excluded(integer(3))),
  },
}

export const onlyOurs: readonly { readonly entity: Entity; readonly elsewhere: Values }[] = Object.entries(only).map(
  ([name, { value, elsewhere }]) => ({
    entity: one([{ kind: 'Value', name }], { value }),
    elsewhere: { value: elsewhere },
  }),
)
