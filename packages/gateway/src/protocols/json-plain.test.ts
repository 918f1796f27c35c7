/** The one-pass codecs beside the library: they give the same, or nothing. */
import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  ScalarType,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { registry } from './descriptors.ts'
import { plainJson } from './json-from-message.ts'
import { type Json, printJson } from './json-text.ts'
import { plainMessage } from './json-to-message.ts'
import { jsonTypeOf } from './json-types.ts'

const methods = registry.getService('google.datastore.v1.Datastore')?.methods ?? []
const answers = methods.map(({ output }) => output)
const all = [...methods.map(({ input }) => input), ...answers]

function typeNamed(name: string): DescMessage {
  const found = registry.getMessage(`google.datastore.v1.${name}`)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** What the library makes of a value; `undefined` = it refuses. */
function libraryBytes(type: DescMessage, json: Json): Buffer | undefined {
  try {
    return Buffer.from(toBinary(type, fromJson(type, json, { registry })))
  } catch {
    return undefined
  }
}

function libraryText(type: DescMessage, bytes: Buffer): string {
  return printJson(toJson(type, fromBinary(type, bytes), { registry }))
}

// -- Values by descriptor ---------------------------------------------------------------------------------------------

const texts = fc.oneof(
  fc.constantFrom('', 'a', 'ä😀', '"\\', '\u0000\u001f\u007f', '\u2028', '__proto__', 'x'.repeat(300), '\n'.repeat(50)),
  fc.string({ maxLength: 50 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const usual: Readonly<Record<number, fc.Arbitrary<Json>>> = {
  [ScalarType.INT64]: fc.oneof(
    fc.constantFrom('0', '-1', '9223372036854775807', '-9223372036854775807', 5),
    fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }).map(String),
    fc.maxSafeInteger(),
  ),
  [ScalarType.INT32]: fc.oneof(fc.nat(), fc.constantFrom(0, 1, 0x7fff_ffff)),
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.DOUBLE]: fc.oneof(
    fc.constantFrom(0, -0, 1, -2, 1e21, 1e-7, 0.1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  [ScalarType.STRING]: texts,
  [ScalarType.BYTES]: fc
    .tuple(fc.uint8Array({ maxLength: 40 }), fc.boolean())
    .map(([bytes, isUrl]) => Buffer.from(bytes).toString(isUrl ? 'base64url' : 'base64')),
}
const times = fc.oneof(
  fc.constantFrom('1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z'),
  fc
    .tuple(fc.date({ noInvalidDate: true, min: new Date(-62e12), max: new Date(253e12) }), fc.nat(999_999_999))
    .map(([date, nanos]) => `${date.toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(253e12) }).map((date) => date.toISOString()),
  fc.nat(999_999).map((micros) => `2026-11-21T01:02:03.${String(micros).padStart(6, '0')}Z`),
)
/** Of the wrong kind, or in one of the rarer forms. */
const odd: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(
  ...[
    null,
    true,
    '',
    'x',
    'NaN',
    '-Infinity',
    '+1',
    '1.0',
    '1e2',
    ' 5',
    '007',
    '-0',
    -0,
    -1,
    1.5,
    2 ** 31,
    2 ** 60,
    [],
    {},
  ],
  ...['9223372036854775808', '-9223372036854775808', '+/-_', 'A', 'AB=', 'AB==', 'ABC=', 'A B', 'AQ==AQ==', 'AR'],
  ...['2020-02-31T00:00:00Z', '2020-01-01T24:00:00Z', '2020-01-01T00:00:60Z', '2020-01-01T00:00:00+02:00'],
  ...['0000-01-01T00:00:00Z', '2020-13-01T00:00:00Z', '2020-01-01T00:00:00.Z', 'STRONG', 'EVENTUAL', 'NULL_VALUE'],
  ...[{ kind: 'K' }, { stringValue: 'x', integerValue: '1' }, { values: [null] }, [1], [{}], [[]], { a: {} }],
)

/** @param oddness - how many of a thousand values are odd */
function anyOf(field: DescField, oddness: number, depth: number): fc.Arbitrary<Json> {
  const plain = usualOf(field, oddness, depth)
  return oddness === 0
    ? plain
    : fc.oneof({ weight: 1000 - oddness, arbitrary: plain }, { weight: oddness, arbitrary: odd })
}

function usualOf(field: DescField, oddness: number, depth: number): fc.Arbitrary<Json> {
  const { message, scalar } = field
  if (message !== undefined) {
    if (message.typeName === 'google.protobuf.Timestamp') return times
    if (message.typeName.endsWith('Int32Value')) return fc.nat()
    if (message.typeName.startsWith('google.protobuf.')) return fc.constantFrom(5, '5', { a: 1 }, '1s')
    return messageOf(message, oddness, depth + 1)
  }
  if (scalar !== undefined) return usual[scalar] ?? odd
  if (field.enum?.typeName === 'google.protobuf.NullValue') return fc.constantFrom(null, 'NULL_VALUE')
  return fc.constantFrom(...(field.enum?.values.map(({ name }) => name) ?? ['']))
}

function messageOf(type: DescMessage, oddness: number, depth = 0): fc.Arbitrary<Json> {
  if (depth > 6) return fc.constant({})
  const members = type.fields.map((field) => {
    const value = fc.memo(() => anyOf(field, oddness, depth))()
    const whole =
      field.fieldKind === 'list'
        ? fc.array(value, { maxLength: 3 })
        : field.fieldKind === 'map'
          ? fc.dictionary(texts, value, { maxKeys: 3 })
          : value
    return fc.tuple(fc.constantFrom(field.jsonName, field.jsonName, field.name), whole, fc.constant(field))
  })
  if (members.length === 0) return fc.constant({})
  return fc.array(fc.oneof(...members), { maxLength: 4 }).map((chosen) => {
    const object: { [name: string]: Json } = {}
    const seen = new Set<unknown>()
    for (const [name, value, field] of chosen) {
      // Without odd values no field, and no oneof, is there twice.
      if (oddness === 0 && (seen.has(field.oneof ?? field) || seen.has(field))) continue
      seen.add(field.oneof ?? field)
      object[name] = value
    }
    return object
  })
}

// -- The laws ---------------------------------------------------------------------------------------------------------

describe('from JSON in one pass', () => {
  test.each(all)('$name is what the library gives, or left to it', (type) => {
    fc.assert(
      fc.property(messageOf(type, 30), (json) => {
        const bytes = plainMessage(jsonTypeOf(type), json)
        if (bytes !== undefined) expect(bytes.toString('hex')).toBe(libraryBytes(type, json)?.toString('hex'))
      }),
      { numRuns: 150 },
    )
  })

  test('nothing of a value is left to the library that most clients send', () => {
    const types = [typeNamed('LookupRequest'), typeNamed('Entity'), typeNamed('Mutation')]
    fc.assert(
      fc.property(fc.oneof(...types.map((type) => messageOf(type, 0).map((json) => ({ type, json })))), (sent) => {
        expect(plainMessage(jsonTypeOf(sent.type), sent.json)).toBeDefined()
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    [{ keys: null }],
    [{ keys: [null] }],
    [{ nothing: 1 }],
    [{ readOptions: { readConsistency: 7 } }],
    [{ projectId: 'p', project_id: 'q' }],
    [[]],
  ])('%j is left to the library', (json) => {
    expect(plainMessage(jsonTypeOf(typeNamed('LookupRequest')), json)).toBeUndefined()
  })

  test('a value nested a thousand times is left to the library', () => {
    let json: Json = {}
    for (let i = 0; i < 1000; i++) json = { arrayValue: { values: [json] } }
    expect(plainMessage(jsonTypeOf(typeNamed('Value')), json)).toBeUndefined()
  })
})

describe('to JSON in one pass', () => {
  test.each(answers)('$name is what the library gives', (type) => {
    fc.assert(
      fc.property(messageOf(type, 0), (json) => {
        const bytes = libraryBytes(type, json)
        fc.pre(bytes !== undefined)
        const text = plainJson(jsonTypeOf(type), bytes)?.toString()
        if (text === undefined) return
        const expected = libraryText(type, bytes)
        // Objects of the language put names that are numbers first.
        if (/"\d+":/.test(text)) expect(JSON.parse(text)).toEqual(JSON.parse(expected))
        else expect(text).toBe(expected)
      }),
      { numRuns: 150 },
    )
  })

  test('no entity is left to the library', () => {
    const type = typeNamed('EntityResult')
    fc.assert(
      fc.property(messageOf(type, 0), (json) => {
        const bytes = libraryBytes(type, json)
        fc.pre(bytes !== undefined)
        expect(plainJson(jsonTypeOf(type), bytes)).toBeDefined()
      }),
      { numRuns: 200 },
    )
  })

  test('bytes of any kind give what the library gives, or are left to it', () => {
    const type = typeNamed('LookupResponse')
    const entity = typeNamed('EntityResult')
    const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), length: fc.nat(3) })
    fc.assert(
      fc.property(messageOf(entity, 0), damage, (json, { at, byte, length }) => {
        const good = libraryBytes(type, { found: [json, json] })
        fc.pre(good !== undefined)
        const cut = at % (good.length + 1)
        const bytes = Buffer.concat([good.subarray(0, cut), Buffer.alloc(length, byte), good.subarray(cut + length)])
        const text = plainJson(jsonTypeOf(type), bytes)?.toString()
        if (text === undefined || text.includes('\ufffd')) return
        expect(JSON.parse(text)).toEqual(JSON.parse(libraryText(type, bytes)))
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['a field before one of a smaller number', '0801' + '0800'],
    ['two values of one choice', '0801' + '1005'],
    ['a number that is longer than it need be', '1080808000'],
    ['an unknown field', '980601'],
    ['a length beyond the end', '8a0105' + '61'],
  ])('%s is left to the library', (_what, hex) => {
    expect(plainJson(jsonTypeOf(typeNamed('Value')), Buffer.from(hex, 'hex'))).toBeUndefined()
  })

  test.each([1, 24, 25, 2000, 9000, 100_000])('a text of %i line breaks is escaped', (length) => {
    const type = typeNamed('Value')
    const text = '\n'.repeat(length)
    const bytes = libraryBytes(type, { stringValue: text })
    expect(JSON.parse(String(bytes && plainJson(jsonTypeOf(type), bytes)))).toEqual({ stringValue: text })
  })

  test('large answers have their own memory', () => {
    const type = typeNamed('Value')
    const [first, second] = ['a', 'b'].map((unit) => {
      const bytes = libraryBytes(type, { stringValue: unit.repeat(100_000) })
      return bytes && plainJson(jsonTypeOf(type), bytes)
    })
    expect(first?.includes('b')).toBe(false)
    expect(second?.includes('aa')).toBe(false)
    expect(first?.length).toBe(100_000 + '{\n  "stringValue": ""\n}\n'.length)
  })
})
