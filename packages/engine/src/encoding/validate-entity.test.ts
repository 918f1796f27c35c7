import { describe, expect, it } from 'vitest'
import {
  array,
  embedded,
  entity,
  excluded,
  field,
  hex,
  integer,
  joined,
  keyOf,
  property,
  request,
  string,
  timestamp,
} from '../../test/property/entity-messages.ts'
import { DatastoreError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Value } from '../model/value.ts'
import { decodeProperties, encodeKey, encodeValue } from './entity-codec.ts'
import { indexEntries } from './index-entries.ts'
import { prepareEntity } from './validate-entity.ts'

const key = keyOf([{ kind: 'A', id: 1n }])

/** The refusal's text; `undefined` when nothing is refused. Anything but INVALID_ARGUMENT is thrown on. */
function refusal(...properties: Uint8Array[]): string | undefined {
  try {
    prepareEntity(entity(key, ...properties), request)
  } catch (error) {
    if (error instanceof DatastoreError && error.code === 'INVALID_ARGUMENT') return error.message
    throw error
  }
  return undefined
}

const text = (bytes: number): string => 'x'.repeat(bytes)
const blob = (bytes: number): Value => ({ type: 'blob', value: new Uint8Array(bytes) })
const meant = (meaning: number, value: Value): Value => ({ ...value, meaning })
const geo = (latitude: number, longitude: number): Value => ({ type: 'geoPoint', latitude, longitude })
const integers = (count: number, first = 0): Value =>
  array(...Array.from({ length: count }, (_, i) => integer(first + i)))

function nested(levels: number): Value {
  let value: Value = integer(1)
  for (let i = 0; i < levels; i++) value = embedded({ e: value })
  return value
}

/** Row of the measured table (0 = ours), what, value of property x, part of the message ("" = accepted). */
const rows: readonly [number, string, Value | Uint8Array, string][] = [
  [68, 'a value without a type', hex(''), 'property "x" has no value type set'],
  [68, 'an array element without a type', hex('4a 02 0a 00'), 'property "x" has no value type set'],
  [69, 'an indexed string of 1,500 bytes', string(text(1500)), ''],
  [
    70,
    'an indexed string of 1,501 bytes',
    string(text(1501)),
    'property "x" has 1501 bytes, at most 1500 can be indexed',
  ],
  [71, 'an excluded string of 1,501 bytes', string(text(1501), true), ''],
  [72, 'an indexed string of 1,500 characters and 3,000 bytes', string('é'.repeat(1500)), 'has 3000 bytes'],
  [73, 'an indexed blob of 1,501 bytes', blob(1501), 'has 1501 bytes'],
  [0, 'an excluded blob of 1,501 bytes', excluded(blob(1501)), ''],
  [70, 'an indexed element of 1,501 bytes', array(string('a'), string(text(1501))), 'has 1501 bytes'],
  [71, 'an excluded element of 1,501 bytes', array(string('a'), string(text(1501), true)), ''],
  [74, 'an excluded string of 1,000,000 bytes', string(text(1_000_000), true), ''],
  [75, 'an excluded string of 1,048,400 bytes', string(text(1_048_400), true), ''],
  [76, 'an excluded string of 1,048,487 bytes', string(text(1_048_487), true), ''],
  [77, 'an excluded string of 1,048,488 bytes', string(text(1_048_488), true), 'has 1048488 bytes, at most 1048487'],
  [78, 'an excluded string of 2 MB', string(text(2_000_000), true), 'has 2000000 bytes, at most 1048487'],
  [77, 'an excluded blob of 1,048,600 bytes', excluded(blob(1_048_600)), 'has 1048600 bytes, at most 1048487'],
  [79, 'an array in an array', array(array()), 'cannot hold another array'],
  [0, 'an array in an entity in an array', array(embedded({ a: array(integer(1)) })), ''],
  [80, 'an excluded array', excluded(array(integer(1))), 'exclude_from_indexes belongs to the elements'],
  [81, 'an array with a meaning', meant(15, array()), 'a meaning belongs to the elements'],
  [82, 'a latitude of 91', geo(91, 0), 'latitude is 91'],
  [82, 'a latitude of -90.1', geo(-90.1, 0), 'latitude is -90.1'],
  [82, 'a latitude of NaN', geo(Number.NaN, 0), 'latitude is NaN'],
  [83, 'a longitude of 181', geo(0, 181), 'longitude is 181'],
  [83, 'the corners of the earth', array(geo(90, 180), geo(-90, -180)), ''],
  [84, 'nanos of 1,000,000,000', timestamp(0n, 1_000_000_000), 'nanos are 1000000000'],
  [84, 'nanos of -1', timestamp(0n, -1), 'nanos are -1'],
  [85, 'a timestamp in the year 10000', timestamp(253_402_300_800n, 0), 'seconds are 253402300800'],
  [85, 'the last second of the year 9999', timestamp(253_402_300_799n, 999_999_999), ''],
  [86, 'a timestamp in the year 0', timestamp(-62_135_596_801n, 0), 'seconds are -62135596801'],
  [86, 'the first second of the year 1', timestamp(-62_135_596_800n, 0), ''],
  [85, 'seconds of 2^63-1', timestamp(2n ** 63n - 1n, 0), 'allowed are -62135596800'],
  [87, 'a key value that is incomplete', { type: 'key', key: keyOf([{ kind: 'B' }]) }, 'the key B:? is incomplete'],
  [88, 'a key value of another project', { type: 'key', key: keyOf([{ kind: 'B', id: 1n }], { projectId: 'q' }) }, ''],
  [
    0,
    'a key value of the database (default)',
    { type: 'key', key: keyOf([{ kind: 'B', id: 1n }], { databaseId: '(default)' }) },
    'illegal database id',
  ],
  [89, 'an embedded property with a reserved name', embedded({ __a__: integer(1) }), 'property "x.__a__": names like'],
  [
    90,
    'an embedded indexed string of 1,501 bytes',
    embedded({ s: string(text(1501)) }),
    'property "x.s" has 1501 bytes',
  ],
  [
    0,
    'an embedded string of 1,501 bytes inside something excluded',
    excluded(embedded({ s: string(text(1501)) })),
    'property "x.s" has 1501 bytes, at most 1500 can be indexed',
  ],
  [
    0,
    'an embedded blob of 1,501 bytes two levels inside',
    excluded(embedded({ e: embedded({ s: blob(1501) }) })),
    '"x.e.s"',
  ],
  [0, 'a long element inside an excluded element', array(excluded(embedded({ s: string(text(1501)) }))), '"x.s"'],
  [0, 'an excluded string of 1,501 bytes inside an entity', embedded({ s: string(text(1501), true) }), ''],
  [0, 'an excluded one inside something excluded', excluded(embedded({ s: string(text(1501), true) })), ''],
  [0, 'an embedded property without a name', embedded({ '': integer(1) }), 'a property name is empty (in x.)'],
  [91, 'entities of 20 levels', nested(20), ''],
  [92, 'entities of 21 levels', nested(21), 'deeper than 20 levels'],
  [92, 'excluded entities of 21 levels', excluded(nested(21)), 'deeper than 20 levels'],
  [0, 'an embedded key that is incomplete', field(6, field(1, encodeKey(keyOf([{ kind: 'B' }])))), ''],
  [0, 'an embedded key with id 0', field(6, field(1, hex('12 05 0a 01 41 10 00'))), 'the id 0'],
  [93, 'meaning 18', meant(18, string('a')), 'meaning 18'],
  [94, 'meaning 15, indexed', meant(15, string('a')), 'meaning 15 (text) must be excluded'],
  [94, 'meaning 15, excluded', meant(15, string('a', true)), ''],
  [0, 'meaning 15 inside something excluded', excluded(embedded({ s: meant(15, string('a')) })), 'must be excluded'],
  [95, 'meaning 99', meant(99, string('a')), 'unknown meaning 99'],
  [95, 'meaning -1', meant(-1, string('a')), 'unknown meaning -1'],
  [0, 'meaning 9 on a geo point', meant(9, geo(1, 1)), 'unknown meaning 9'],
  [0, 'meaning 7 on an integer that a timestamp could say', meant(7, integer(0)), 'use timestamp_value'],
  [0, 'meaning 7 on the last such integer', meant(7, integer(253_402_300_799_999_999n)), 'use timestamp_value'],
  [0, 'meaning 7 on an integer beyond', meant(7, integer(253_402_300_800_000_000n)), ''],
  [0, 'meaning 13 on 100', meant(13, integer(100)), ''],
  [0, 'meaning 13 on 101', meant(13, integer(101)), 'from 0 to 100'],
  [0, 'meaning 13 on -1', meant(13, integer(-1)), 'from 0 to 100'],
  [0, 'meaning 20 on a string', meant(20, string('a')), 'must be an entity'],
  [0, 'meaning 20 on an entity', meant(20, embedded({ email: string('a@b') })), ''],
  [0, 'a user with a reserved field', meant(20, embedded({ __a__: string('a@b') })), 'names like'],
  ...[1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 17].flatMap((meaning): [number, string, Value, string][] => [
    [0, `meaning ${meaning} on a string`, meant(meaning, string('a')), ''],
    [0, `meaning ${meaning} on an integer`, meant(meaning, integer(1)), 'goes with a string only'],
    [0, `meaning ${meaning} on a blob`, meant(meaning, blob(1)), 'goes with a string only'],
  ]),
  [0, 'meaning 16 on a blob', meant(16, blob(1)), ''],
  [0, 'meaning 16 on a string', meant(16, string('a')), 'goes with a blob only'],
  [0, 'meaning 15 on an excluded blob', meant(15, excluded(blob(1))), 'goes with a string only'],
  [0, 'meaning 22 on a blob, excluded', meant(22, excluded(blob(1))), ''],
  [0, 'meaning 22 on a blob, indexed', meant(22, blob(1)), 'must be excluded'],
  [0, 'meaning 22 inside something excluded', excluded(embedded({ s: meant(22, blob(1)) })), 'must be excluded'],
  [0, 'meaning 22 on a string', meant(22, string('a', true)), 'goes with a blob only'],
  [0, 'meaning 30 on an integer', meant(30, integer(1)), ''],
  [0, 'a string that is not UTF-8', hex('8a 01 01 ff'), 'property "x" is not valid UTF-8'],
  [0, 'an excluded string that is not UTF-8', hex('8a 01 01 ff 98 01 01'), 'property "x" is not valid UTF-8'],
  [0, 'a string with a lone surrogate', hex('8a 01 03 ed a0 80'), 'property "x" is not valid UTF-8'],
  [101, '20,000 indexed elements', integers(20_000), ''],
  [101, '20,001 indexed elements', integers(20_001), 'has 20001 indexed values, at most 20000'],
  [0, '30,000 equal elements, which are one entry', array(...Array.from({ length: 30_000 }, () => integer(1))), ''],
  [0, '20,001 excluded elements', array(...Array.from({ length: 20_001 }, (_, i) => excluded(integer(i)))), ''],
]

describe('values of properties', () => {
  for (const [row, what, value, message] of rows) {
    it(`a write ${message === '' ? 'accepts' : 'refuses'} ${what}${row === 0 ? '' : ` (row ${row})`}`, () => {
      const found = refusal(property('x', value))
      if (message === '') expect(found).toBeUndefined()
      else expect(found).toContain(message)
    })
  }

  it('count together towards the limit of index entries', () => {
    expect(refusal(property('x', integers(10_000)), property('y', integers(10_000)))).toBeUndefined()
    expect(refusal(property('x', integers(10_000)), property('y', integers(10_001)))).toContain('20001 indexed values')
  })

  it('make an entity of more than 1,048,572 bytes refused', () => {
    const half = (bytes: number) => property('x', string(text(bytes), true))
    const overhead = entity(key, half(500_000)).length - 500_000
    const fits = property('y', string(text(limits.entityBytesMax - 500_000 - 2 * overhead), true))
    const size = entity(key, half(500_000), fits).length
    expect(refusal(half(500_000 + limits.entityBytesMax - size), fits)).toBeUndefined()
    expect(refusal(half(500_001 + limits.entityBytesMax - size), fits)).toContain('the entity has 1048573 bytes')
  })
})

describe('names of properties', () => {
  for (const [row, what, name, message] of [
    [96, 'empty', '', 'a property name is empty'],
    [0, 'of 1,500 bytes', text(1500), ''],
    [97, 'of 1,501 bytes', text(1501), 'has 1501 bytes, at most 1500'],
    [97, 'of 751 characters and 1,502 bytes', 'é'.repeat(751), 'has 1502 bytes, at most 1500'],
    [98, 'reserved', '__x__', 'property "__x__": names like'],
    [99, '__key__', '__key__', 'property "__key__": names like'],
    [100, 'with a dot', 'a.b', ''],
    [0, 'that only begins as reserved', '__x', ''],
  ] as const) {
    it(`${what} are ${message === '' ? 'accepted' : 'refused'}${row === 0 ? '' : ` (row ${row})`}`, () => {
      const found = refusal(property(name, integer(1)))
      if (message === '') expect(found).toBeUndefined()
      else expect(found).toContain(message)
    })
  }
})

describe('what is stored', () => {
  it('are the bytes that came, as a view of them', () => {
    const bytes = entity(key, property('a', integer(1)), property('b', array(string('x'), string('y'))))
    const { properties } = prepareEntity(bytes, request)
    expect(properties.buffer).toBe(bytes.buffer)
  })

  it('keeps an incomplete key incomplete', () => {
    expect(prepareEntity(entity(keyOf([{ kind: 'A' }])), request).key.path).toEqual([{ kind: 'A' }])
  })

  it('has timestamps floored to microseconds, also deep inside, and everything else as it came', () => {
    const before = property('a', hex('10 85 00')) // 5, longer than need be
    const after = property('c', integer(7))
    const fine = property('b', field(9, joined(field(1, timestamp(-1n, 1_999)), field(1, encodeValue(integer(1))))))
    const { properties, entries } = prepareEntity(entity(key, before, fine, after), request)
    const floored = property('b', array({ type: 'timestamp', micros: -999_999n }, integer(1)))
    expect(Buffer.from(properties)).toEqual(Buffer.from(joined(before, floored, after)))
    expect(entries).toEqual(indexEntries(properties))
  })

  it('has the project of the request in key values that name none', () => {
    const value = field(5, hex('12 05 0a 01 42 10 01'))
    const { properties, entries } = prepareEntity(entity(key, property('k', value)), request)
    expect(decodeProperties(properties)).toEqual(new Map([['k', { type: 'key', key: keyOf([{ kind: 'B', id: 1n }]) }]]))
    const said = property('k', { type: 'key', key: keyOf([{ kind: 'B', id: 1n }]) })
    expect(prepareEntity(entity(key, said), request).entries).toEqual(entries)
    expect(entries).toEqual(indexEntries(properties))
  })

  it('has the project of the request in the keys of embedded entities that name none', () => {
    const value = field(6, field(1, hex('12 03 0a 01 42')))
    const { properties } = prepareEntity(entity(key, property('e', value)), request)
    expect(decodeProperties(properties).get('e')).toEqual({
      type: 'entity',
      key: keyOf([{ kind: 'B' }]),
      properties: new Map(),
    })
  })

  it('has the last value of a property named twice, and no entry of the first', () => {
    const { properties, entries } = prepareEntity(
      entity(key, property('a', integer(1)), property('b', integer(2)), property('a', string('x'))),
      request,
    )
    expect(Buffer.from(properties)).toEqual(Buffer.from(joined(property('a', string('x')), property('b', integer(2)))))
    expect(entries.map((entry) => entry.property)).toEqual(['a', 'b'])
    expect(entries.every((entry) => !entry.multi)).toBe(true)
  })

  it('has the last value of an embedded property named twice', () => {
    const twice = field(6, joined(property('a', integer(1)), property('a', integer(2))))
    const { properties, entries } = prepareEntity(entity(key, property('e', twice)), request)
    expect(decodeProperties(properties).get('e')).toEqual(embedded({ a: integer(2) }))
    expect(entries.length).toBe(1)
  })

  it('finds a repeated name among many', () => {
    const many = Array.from({ length: 100 }, (_, i) => property(`p${i}`, integer(i)))
    expect(prepareEntity(entity(key, ...many), request).entries.length).toBe(100)
    const { entries, properties } = prepareEntity(entity(key, ...many, property('p70', integer(0))), request)
    expect(entries.length).toBe(100)
    expect(decodeProperties(properties).get('p70')).toEqual(integer(0))
  })
})

describe('vectors', () => {
  const vector = (count: number, element: Value = { type: 'double', value: 0.5 }): Value =>
    excluded(meant(31, array(...new Array<Value>(count).fill(element))))

  it('a vector is kept as it came and has no index entries', () => {
    for (const value of [vector(1), vector(2048)]) {
      const prepared = prepareEntity(entity(key, property('x', value), property('y', integer(1))), request, {
        emptyArrayAsNull: true,
      })
      expect(prepared.entries.map((entry) => entry.property)).toEqual(['y'])
      expect(decodeProperties(prepared.properties, request).get('x')).toEqual(value)
      expect(indexEntries(prepared.properties, { emptyArrayAsNull: true })).toEqual(prepared.entries)
    }
  })

  it('doubles may be written in any way that the format has', () => {
    // The element has its meaning before its double.
    const odd = hex('4a 0d 0a 0b 70 05 19 00 00 00 00 00 00 e0 3f 70 1f 98 01 01')
    expect(refusal(property('x', odd))).toBeUndefined()
  })

  it('a vector is excluded from indexes, also inside an excluded entity', () => {
    const indexed = meant(31, array({ type: 'double', value: 1 }))
    expect(refusal(property('x', indexed))).toMatch(/must be excluded from indexes/)
    expect(refusal(property('x', excluded(embedded({ v: indexed }))))).toMatch(/"x.v".*must be excluded from indexes/)
    expect(refusal(property('x', embedded({ v: excluded(indexed) })))).toBeUndefined()
  })

  it('a vector has 1 to 2,048 dimensions, which are doubles', () => {
    expect(refusal(property('x', vector(0)))).toMatch(/no dimensions/)
    expect(refusal(property('x', vector(2049)))).toMatch(/the vector has 2049 dimensions/)
    expect(refusal(property('x', vector(2, integer(1))))).toMatch(/doubles only/)
    expect(refusal(property('x', array(vector(2))))).toMatch(/cannot hold another array/)
    expect(refusal(property('x', meant(31, integer(1))))).toMatch(/unknown meaning 31/)
  })
})
