/**
 * Keys, values and entities as they stand in requests: few enough different ones that filters hit and types meet, and beside
 * them those that lie on a limit or over it.
 */
import fc from 'fast-check'
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'

export type Values = fc.Arbitrary<Plain>

/** One of several, each as often as its weight says: `mixed([3, fewKeys], [1, anyKey])`. */
export function mixed<Ts extends unknown[]>(
  ...parts: { [I in keyof Ts]: readonly [weight: number, arbitrary: fc.Arbitrary<Ts[I]>] }
): fc.Arbitrary<Ts[number]> {
  return fc.oneof(...parts.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

/** A message of one member: `member('upsert', entities)` draws `{ upsert: … }`. */
export const member = (name: string, content: fc.Arbitrary<unknown>): Values => content.map((one) => ({ [name]: one }))

export const integer = (value: number | string): Plain => ({ integerValue: String(value) })
export const double = (value: number): Plain => ({ doubleValue: value })
export const string = (value: string): Plain => ({ stringValue: value })
export const blob = (value: string): Plain => ({ blobValue: Buffer.from(value) })
export const instant = (seconds: number | string, nanos = 0): Plain => ({
  timestampValue: { seconds: String(seconds), nanos },
})
export const list = (...values: Plain[]): Plain => ({ arrayValue: { values } })
export const embedded = (properties: Plain): Plain => ({ entityValue: { properties } })
export const nothing: Plain = { nullValue: 'NULL_VALUE' }
export const unindexed = (value: Plain): Plain => ({ ...value, excludeFromIndexes: true })

const element = mixed(
  [4, fc.record({ kind: fc.constantFrom('K', 'K', 'L'), id: fc.constantFrom('1', '2', '3', '4', '5') })],
  [1, fc.record({ kind: fc.constantFrom('K', 'L'), name: fc.constantFrom('a', 'b', 'é') })],
)

/** Complete keys of one to three elements, mostly of kind K at the end. */
export const keys: Values = fc
  .tuple(mixed([4, fc.constant([])], [1, fc.array(element, { minLength: 1, maxLength: 2 })]), element)
  .map(([parents, last]) => ({ path: [...parents, last] }))

/** Keys of the fewest entities, for what is written again and again. */
export const fewKeys: Values = fc.constantFrom('1', '2', '3').map((id) => ({ path: [{ kind: 'K', id }] }))

/** Values that equal each other often, across types: 1 is an integer, a double, an instant; "a" is a string and a blob. */
export const fewScalars: Values = mixed(
  [10, fc.constantFrom(...[1, 2, 3, 0, -1].map(integer))],
  [3, fc.constantFrom(...['a', 'b', '', '\u{1F600}', '\uFFFD'].map(string))],
  [2, fc.constant(nothing)],
  [2, fc.constantFrom({ booleanValue: true }, { booleanValue: false })],
  [2, fc.constantFrom(...[1, 2.5, -0, 0, Number.NaN, Number.NEGATIVE_INFINITY].map(double))],
  [1, fc.constantFrom(blob('a'), blob('b'))],
  [1, fc.constantFrom(instant(0), instant(0, 1_000), instant(1))],
  [1, fc.constantFrom('1', '2').map((id) => ({ keyValue: { path: [{ kind: 'K', id }] } }))],
  [1, fc.constantFrom(0, 1).map((latitude) => ({ geoPointValue: { latitude, longitude: 1 } }))],
)

/** What stands in the entities that queries are about. */
export const stored: Values = mixed(
  [10, fewScalars],
  [3, fc.array(fewScalars, { minLength: 1, maxLength: 3 }).map((values) => list(...values))],
  [1, fc.constant(list())],
  [1, fewScalars.map(unindexed)],
)

/** The same without arrays, which the Firestore emulator has a fault in (see the classes). */
export const storedSingly: Values = mixed([10, fewScalars], [1, fewScalars.map(unindexed)])

const small: Values = fc.oneof(
  fewScalars,
  fc.record({ integerValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
  fc.double().map(double),
  fc.string().map(string),
)

const edges: Values = fc.constantFrom<Plain>(
  integer('9223372036854775807'),
  integer('-9223372036854775808'),
  double(Number.MIN_VALUE),
  double(Number.POSITIVE_INFINITY),
  instant('-62135596800'),
  instant('253402300799', 999_999_999),
  instant('253402300800'),
  instant('-62135596801'),
  instant(1, 999),
  instant(-1, 999_999_999),
  instant(0, 1_000_000_000),
  instant(0, -1),
  string('x'.repeat(1500)),
  string('x'.repeat(1501)),
  unindexed(string('x'.repeat(1501))),
  string('ä'.repeat(750)),
  string('ä'.repeat(751)),
  string('a\0b'),
  { blobValue: Buffer.alloc(1500) },
  { blobValue: Buffer.alloc(1501) },
  { blobValue: Buffer.of(0, 255) },
  { geoPointValue: { latitude: 90, longitude: -180 } },
  { geoPointValue: { latitude: 90.5, longitude: 0 } },
  { geoPointValue: { latitude: Number.NaN, longitude: 0 } },
  { geoPointValue: {} },
  {},
  list(),
  list({}),
  list(list()),
  unindexed(list(integer(1))),
  list(unindexed(integer(1)), integer(2)),
  embedded({}),
  unindexed(embedded({ x: integer(1) })),
  embedded({ __x__: integer(1) }),
  embedded({ '': integer(1) }),
  { entityValue: { key: { path: [{ kind: 'K', id: '1' }] }, properties: { x: integer(1) } } },
  { entityValue: { key: { path: [{ kind: 'K' }] }, properties: { x: integer(1) } } },
  { entityValue: { key: { path: [] } } },
  { keyValue: { path: [{ kind: 'K' }] } },
  { keyValue: { path: [] } },
  { keyValue: {} },
  { keyValue: { partitionId: { namespaceId: 'n' }, path: [{ kind: 'K', id: '1' }] } },
  { keyValue: { partitionId: { projectId: 'other' }, path: [{ kind: 'K', id: '1' }] } },
  { keyValue: { path: [{ kind: '__x__', id: '1' }] } },
  { keyValue: { path: [{ kind: 'K', id: '-1' }] } },
)

/** A value with a number that says how it is to be understood. */
const meant: Values = fc
  .tuple(
    fc.constantFrom<Plain>(
      string('x'),
      integer(5),
      integer(150),
      blob('x'),
      instant(5),
      nothing,
      double(1),
      list(integer(1)),
      { geoPointValue: { latitude: 1, longitude: 2 } },
      embedded({ x: integer(1) }),
      embedded({ email: string('a@example.com'), auth_domain: string('d') }),
    ),
    fc.constantFrom(1, 2, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 99, -1),
    fc.boolean(),
  )
  .map(([value, meaning, isUnindexed]) => ({ ...value, meaning, ...(isUnindexed ? { excludeFromIndexes: true } : {}) }))

const nested: Values = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    small,
    fc
      .dictionary(fc.constantFrom('x', 'y', 'z.w'), tie('value'), { maxKeys: 2 })
      .map((properties) => embedded(properties)),
    fc.array(fc.oneof(small, small.map(unindexed)), { maxLength: 3 }).map((values) => list(...values)),
  ),
})).value

/** Any value, of which about one in four lies on a limit or means something. */
export const anyValue: Values = mixed([6, nested], [2, edges], [1, meant])

export const anyKey: Values = mixed(
  [8, keys],
  [
    2,
    fc.constantFrom<Plain>(
      {},
      { path: [] },
      { path: [{ kind: 'K' }] },
      { path: [{ kind: '', id: '1' }] },
      { path: [{ kind: 'K', id: '0' }] },
      { path: [{ kind: 'K', id: '-1' }] },
      { path: [{ kind: 'K', name: '' }] },
      { path: [{ kind: 'K', name: 'n'.repeat(1500) }] },
      { path: [{ kind: 'K', name: 'n'.repeat(1501) }] },
      { path: [{ kind: 'K', name: 'ä'.repeat(751) }] },
      { path: [{ kind: 'k'.repeat(1501), id: '1' }] },
      { path: [{ kind: '__x__', id: '1' }] },
      { path: [{ kind: '__x', id: '1' }] },
      { path: [{ kind: 'K', name: '__n__' }] },
      { path: [{ kind: 'K', name: '____' }] },
      { path: [{ kind: 'K', name: '___' }] },
      { path: [{ kind: '__kind__', name: 'K' }] },
      { path: [{ kind: 'K' }, { kind: 'L', id: '1' }] },
      { partitionId: { namespaceId: 'n' }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { namespaceId: 'n n' }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { namespaceId: 'ä' }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { namespaceId: 'n'.repeat(100) }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { namespaceId: 'n'.repeat(101) }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { namespaceId: '__n__' }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { projectId: 'other' }, path: [{ kind: 'K', id: '1' }] },
      { partitionId: { databaseId: 'd' }, path: [{ kind: 'K', id: '1' }] },
    ),
  ],
)

const propertyNames = mixed(
  [12, fc.constantFrom('a', 'b', 'c', 'd e', 'ä', 'a.b')],
  [
    1,
    fc.constantFrom(
      '',
      '__x__',
      '__key__',
      '__',
      '___',
      '____',
      '__x',
      'x__',
      'p'.repeat(1500),
      'p'.repeat(1501),
      'a..b',
      '.a',
      '`a`',
      '\0',
    ),
  ],
)

export const anyProperties: Values = fc.dictionary(propertyNames, anyValue, { maxKeys: 3 })
