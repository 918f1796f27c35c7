import { describe, expect, it } from 'vitest'
import {
  entity,
  field,
  hex,
  integer,
  joined,
  keyOf,
  property,
  request,
  string,
} from '../../test/property/entity-messages.ts'
import { DatastoreError } from '../errors.ts'
import type { Value } from '../model/value.ts'
import {
  decodeKey,
  decodeProperties,
  decodeValue,
  encodeKey,
  encodeProperties,
  encodeValue,
  splitEntity,
} from './entity-codec.ts'

// Fixtures written down byte by byte from entity.proto; the gateway's oracle test holds the codec against protobufjs.
const values: readonly [string, string, Value][] = [
  ['null', '58 00', { type: 'null' }],
  ['true', '08 01', { type: 'boolean', value: true }],
  ['false', '08 00', { type: 'boolean', value: false }],
  ['0', '10 00', integer(0)],
  ['-1', '10 ff ff ff ff ff ff ff ff ff 01', integer(-1)],
  ['2^63-1', '10 ff ff ff ff ff ff ff ff 7f', integer(2n ** 63n - 1n)],
  ['-2^63', '10 80 80 80 80 80 80 80 80 80 01', integer(-(2n ** 63n))],
  ['1.5', '19 00 00 00 00 00 00 f8 3f', { type: 'double', value: 1.5 }],
  ['-0.0', '19 00 00 00 00 00 00 00 80', { type: 'double', value: -0 }],
  ['the epoch', '52 00', { type: 'timestamp', micros: 0n }],
  [
    'a microsecond before',
    '52 11 08 ff ff ff ff ff ff ff ff ff 01 10 98 8c eb dc 03',
    { type: 'timestamp', micros: -1n },
  ],
  ['a string', '8a 01 02 c3 a9', string('é')],
  ['a blob', '92 01 02 ff 00', { type: 'blob', value: Uint8Array.of(255, 0) }],
  ['a geo point', '42 09 11 00 00 00 00 00 00 f0 bf', { type: 'geoPoint', latitude: 0, longitude: -1 }],
  [
    'a key',
    '2a 0f  0a 03 12 01 70  12 08 0a 04 54 6f 44 6f 10 07',
    { type: 'key', key: keyOf([{ kind: 'ToDo', id: 7n }]) },
  ],
  ['an entity', '32 09 1a 07 0a 01 61 12 02 10 05', { type: 'entity', properties: new Map([['a', integer(5)]]) }],
  ['an array', '4a 08 0a 02 10 05 0a 02 58 00', { type: 'array', values: [integer(5), { type: 'null' }] }],
  ['an empty array', '4a 00', { type: 'array', values: [] }],
  [
    'text with meaning, excluded',
    '70 0f 8a 01 01 61 98 01 01',
    { type: 'string', value: 'a', meaning: 15, excludeFromIndexes: true },
  ],
]

describe('values', () => {
  for (const [name, bytes, value] of values) {
    it(`${name} is ${bytes}`, () => {
      expect(decodeValue(hex(bytes), request)).toEqual(value)
      expect(Buffer.from(encodeValue(value)).toString('hex')).toBe(Buffer.from(hex(bytes)).toString('hex'))
    })
  }

  it('have the member that comes last', () => {
    expect(decodeValue(hex('10 05 8a 01 01 61'), request)).toEqual(string('a'))
    expect(decodeValue(hex('8a 01 01 61 10 05 10 06'), request)).toEqual(integer(6))
  })

  it('merge a message member that comes twice in a row', () => {
    const twice = joined(field(6, property('a', integer(1))), field(6, property('b', integer(2))))
    expect(decodeValue(twice, request)).toEqual({
      type: 'entity',
      properties: new Map([
        ['a', integer(1)],
        ['b', integer(2)],
      ]),
    })
    expect(decodeValue(hex('4a 04 0a 02 10 05  4a 04 0a 02 10 06'), request)).toEqual({
      type: 'array',
      values: [integer(5), integer(6)],
    })
    expect(decodeValue(hex('52 02 08 01  52 03 10 e8 07'), request)).toEqual({ type: 'timestamp', micros: 1_000_001n })
  })

  it('do not merge when another member stands between', () => {
    expect(decodeValue(hex('4a 04 0a 02 10 05  58 00  4a 04 0a 02 10 06'), request)).toEqual({
      type: 'array',
      values: [integer(6)],
    })
  })

  it('keep going when unknown fields stand among the known ones', () => {
    expect(decodeValue(hex('a8 06 01  10 05  a3 06 08 01 a4 06'), request)).toEqual(integer(5))
  })

  it('are floored to microseconds, also before the epoch', () => {
    expect(decodeValue(hex('52 03 10 e7 07'), request)).toEqual({ type: 'timestamp', micros: 0n })
    // -1 s + 999 ns = 1 µs - 1 ns after -1 s
    expect(decodeValue(hex('52 0e 08 ff ff ff ff ff ff ff ff ff 01 10 e7 07'), request)).toEqual({
      type: 'timestamp',
      micros: -1_000_000n,
    })
  })

  for (const [what, bytes, message] of [
    ['no type', '', 'property "x" has no value type set'],
    ['only an exclude flag', '98 01 01', 'property "x" has no value type set'],
    ['a string of wire type varint', '88 01 01', 'wire type 0, expected 2'],
    ['an integer of wire type bytes', '12 01 61', 'wire type 2, expected 0'],
    ['a string cut off', '8a 01 05 61', 'a length is beyond the end'],
    ['a string that is not UTF-8', '8a 01 01 ff', 'property "x" is not valid UTF-8'],
    ['a latitude of NaN', '42 09 09 00 00 00 00 00 00 f8 7f', 'latitude is NaN'],
    ['arrays 200 deep', nested(9, 1, 200), 'nested deeper'],
    ['entities 200 deep', nestedEntities(200), 'nested deeper'],
  ] as const) {
    it(`with ${what} are refused`, () => {
      const bytesOf = typeof bytes === 'string' ? hex(bytes) : bytes
      const error = caught(() => decodeValue(bytesOf, request, 'x'))
      expect(error.code).toBe('INVALID_ARGUMENT')
      expect(error.message).toContain(message)
    })
  }
})

describe('keys', () => {
  it('get the project and database of the request where they name none', () => {
    const bytes = hex('12 05 0a 01 41 10 01')
    expect(decodeKey(bytes, { projectId: 'q', databaseId: 'd' })).toEqual(
      keyOf([{ kind: 'A', id: 1n }], { projectId: 'q', databaseId: 'd' }),
    )
  })

  it('of another project are in its default database when they name none', () => {
    expect(decodeKey(encodeKey(keyOf([{ kind: 'A', id: 1n }])), { projectId: 'q', databaseId: 'd' })).toEqual(
      keyOf([{ kind: 'A', id: 1n }]),
    )
  })

  it('merge a partition that comes twice, and append path elements', () => {
    const key = joined(
      field(1, field(2, 'p')),
      field(2, field(1, 'A')),
      field(1, joined(field(4, 'old'), field(4, 'new'))),
      field(2, joined(field(1, 'B'), field(3, 'n'))),
    )
    expect(decodeKey(key, { projectId: 'other', databaseId: '' })).toEqual(
      keyOf([{ kind: 'A' }, { kind: 'B', name: 'n' }], { namespaceId: 'new' }),
    )
  })

  it('have an id or a name, whichever comes last', () => {
    expect(decodeKey(hex('12 08 0a 01 41 1a 01 6e 10 01'), request)).toEqual(keyOf([{ kind: 'A', id: 1n }]))
    expect(decodeKey(hex('12 08 0a 01 41 10 01 1a 01 6e'), request)).toEqual(keyOf([{ kind: 'A', name: 'n' }]))
  })

  it('tell an id of 0 and an empty name from none', () => {
    expect(decodeKey(hex('12 05 0a 01 41 10 00'), request).path).toEqual([{ kind: 'A', id: 0n }])
    expect(decodeKey(hex('12 05 0a 01 41 1a 00'), request).path).toEqual([{ kind: 'A', name: '' }])
    expect(decodeKey(hex('12 03 0a 01 41'), request).path).toEqual([{ kind: 'A' }])
  })

  it('without a path are refused', () => {
    expect(caught(() => decodeKey(hex('0a 03 12 01 70'), request)).message).toContain('no path elements')
  })
})

describe('entities', () => {
  const key = keyOf([{ kind: 'A', id: 1n }])
  const a = property('a', integer(1))
  const b = property('b', string('x'))

  it('split into key and property bytes, which are a view where they lie together', () => {
    const bytes = entity(key, a, b)
    const split = splitEntity(bytes, request)
    expect(split.key).toEqual(key)
    expect(Buffer.from(split.properties)).toEqual(Buffer.from(joined(a, b)))
    expect(split.properties.buffer).toBe(bytes.buffer)
  })

  for (const [order, parts] of [
    ['before the key', [a, b, field(1, encodeKey(key))]],
    ['around the key', [a, field(1, encodeKey(key)), b]],
    ['around unknown fields', [field(1, encodeKey(key)), a, hex('28 07'), b, hex('33 34')]],
    ['around two parts of the key', [field(1, field(1, field(2, 'p'))), a, field(1, hex('12 05 0a 01 41 10 01')), b]],
  ] as const) {
    it(`split with properties ${order}`, () => {
      const split = splitEntity(joined(...parts), request)
      expect(split.key).toEqual(key)
      expect(Buffer.from(split.properties)).toEqual(Buffer.from(joined(a, b)))
    })
  }

  it('split without a key or without properties', () => {
    expect(splitEntity(a, request).key).toBeUndefined()
    expect(splitEntity(entity(key), request).properties.length).toBe(0)
    expect(splitEntity(new Uint8Array(0), request)).toEqual({ key: undefined, properties: Buffer.alloc(0) })
  })

  it('keep of a property named twice the last value', () => {
    expect(decodeProperties(joined(a, b, property('a', integer(2))))).toEqual(
      new Map([
        ['a', integer(2)],
        ['b', string('x')],
      ]),
    )
  })

  it('read a map entry whose value stands first or comes in parts', () => {
    const valueFirst = field(3, joined(field(2, hex('10 05')), field(1, 'a')))
    const inParts = field(3, joined(field(1, 'b'), field(2, hex('10 05')), field(2, hex('98 01 01'))))
    expect(decodeProperties(joined(valueFirst, inParts))).toEqual(
      new Map<string, Value>([
        ['a', integer(5)],
        ['b', { type: 'integer', value: 5n, excludeFromIndexes: true }],
      ]),
    )
  })

  it('encode properties as map entries in order', () => {
    expect(
      Buffer.from(
        encodeProperties(
          new Map([
            ['a', integer(1)],
            ['b', string('x')],
          ]),
        ),
      ),
    ).toEqual(Buffer.from(joined(a, b)))
  })
})

function caught(run: () => unknown): DatastoreError {
  try {
    run()
  } catch (error) {
    if (error instanceof DatastoreError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** A message of `number` holding one of `inner` holding one of `number` … */
function nested(number: number, inner: number, depth: number): Uint8Array {
  let bytes = hex('58 00')
  for (let i = 0; i < depth; i++) bytes = field(number, field(inner, bytes))
  return bytes
}

function nestedEntities(depth: number): Uint8Array {
  let bytes = hex('58 00')
  for (let i = 0; i < depth; i++) bytes = field(6, property('a', bytes))
  return bytes
}
