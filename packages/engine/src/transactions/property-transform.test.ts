import { describe, expect, test } from 'vitest'
import {
  comparableValue,
  excluded,
  literal,
  type Plain,
  propertyBytes,
  readBack,
  toValue,
  withMeaning,
} from '../../test/support/plain-values.ts'
import { WireWriter } from '../encoding/wire.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import { applyTransforms, type PropertyTransform, prepareTransforms } from './property-transform.ts'

type Properties = { readonly [name: string]: Plain }

const request = { projectId: 'p', databaseId: '' }
const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

const increment = (property: string, by: Plain): PropertyTransform => ({
  property,
  type: 'increment',
  value: toValue(by),
})
const maximum = (property: string, of: Plain): PropertyTransform => ({ property, type: 'maximum', value: toValue(of) })
const minimum = (property: string, of: Plain): PropertyTransform => ({ property, type: 'minimum', value: toValue(of) })
const append = (property: string, ...values: Plain[]): PropertyTransform => ({
  property,
  type: 'appendMissing',
  values: values.map(toValue),
})
const remove = (property: string, ...values: Plain[]): PropertyTransform => ({
  property,
  type: 'removeAll',
  values: values.map(toValue),
})
const requestTime = (property: string): PropertyTransform => ({ property, type: 'requestTime' })

function apply(
  stored: Properties,
  transforms: readonly PropertyTransform[],
  now = 0n,
): { readonly after: unknown; readonly results: unknown } {
  const { properties, results } = applyTransforms(propertyBytes(stored), prepareTransforms(transforms, request), now)
  return { after: readBack(properties), results: results.map(comparableValue) }
}

const saying = (after: Properties, ...results: Plain[]): unknown => ({
  after: readBack(propertyBytes(after)),
  results: results.map((result) => comparableValue(toValue(result))),
})

// Where not said otherwise: answers of Google's newer emulator.
describe('an increment', () => {
  test.each<[string, Properties, Plain, Plain]>([
    ['of nothing sets', {}, 5n, 5n],
    ['adds integers', { n: 1n }, 5n, 6n],
    ['of an integer by a double is a double', { n: 1n }, 0.5, 1.5],
    ['of a double by an integer is a double', { n: 1.5 }, 2n, 3.5],
    ['of a text sets', { n: 'text' }, 2n, 2n],
    ['of null sets', { n: null }, 2n, 2n],
    ['of an array sets', { n: [1n] }, 2n, 2n],
    ['of a timestamp sets', { n: literal({ type: 'timestamp', micros: 5n }) }, 1n, 1n],
    ['stops at the largest integer', { n: int64Max - 1n }, 5n, int64Max],
    ['stops at the smallest integer', { n: int64Min + 1n }, -5n, int64Min],
    ['by a double loses what a double cannot say', { n: 2n ** 53n + 1n }, 1, 2 ** 53],
    ['by NaN is NaN', { n: 1n }, Number.NaN, Number.NaN],
    ['adds infinities by IEEE 754', { n: Number.POSITIVE_INFINITY }, Number.NEGATIVE_INFINITY, Number.NaN],
    // IEEE 754; the emulator keeps no sign of zero.
    ['of -0.0 by -0.0 keeps the sign', { n: -0 }, -0, -0],
    ['of -0.0 by 0 loses the sign', { n: -0 }, 0n, 0],
    ['has the exclude flag of what is added', { n: 1n }, excluded(1n), excluded(2n)],
    ['drops the exclude flag of what is stored', { n: excluded(1n) }, 1n, 2n],
    ['drops the meaning of what is stored', { n: withMeaning(13, 50n) }, 1n, 51n],
    ['drops the meaning of what is added', { n: 1n }, withMeaning(13, 5n), 6n],
    ['of nothing sets the value with its meaning', {}, withMeaning(13, 5n), withMeaning(13, 5n)],
  ])('%s', (_, stored, operand, after) => {
    expect(apply({ ...stored, other: 'same' }, [increment('n', operand)])).toEqual(
      saying({ n: after, other: 'same' }, after),
    )
  })
})

describe('maximum and minimum', () => {
  const nan = Number.NaN
  test.each<[Plain | undefined, Plain, Plain, Plain]>([
    // stored, operand, maximum, minimum
    [undefined, 3n, 3n, 3n],
    [undefined, 2.5, 2.5, 2.5],
    ['text', 2n, 2n, 2n],
    [3n, 2n, 3n, 2n],
    [3n, 4n, 4n, 3n],
    [3n, 3, 3n, 3n],
    [3, 3n, 3, 3],
    [3n, 2.5, 3n, 2.5],
    [3n, 3.5, 3.5, 3n],
    [3, 2n, 3, 2n],
    [3, 4n, 4n, 3],
    [0n, 0, 0n, 0n],
    [0n, -0, 0n, 0n],
    [0, 0n, 0, 0],
    [0, -0, 0, 0],
    [-0, 0, -0, -0],
    [3n, nan, nan, nan],
    [nan, 3n, nan, nan],
    [nan, nan, nan, nan],
    [3n, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 3n],
    [2n ** 53n + 1n, 2 ** 53, 2n ** 53n + 1n, 2 ** 53],
    [2 ** 53, 2n ** 53n + 1n, 2n ** 53n + 1n, 2 ** 53],
    [excluded(1n), 3n, 3n, excluded(1n)],
    [excluded(5n), 3n, excluded(5n), 3n],
    [3n, excluded(3n), 3n, 3n],
  ])('of stored %s and %s', (stored, operand, greater, smaller) => {
    const before: Properties = stored === undefined ? {} : { n: stored }
    expect(apply(before, [maximum('n', operand)])).toEqual(saying({ n: greater }, greater))
    expect(apply(before, [minimum('n', operand)])).toEqual(saying({ n: smaller }, smaller))
  })
})

describe('transforms of arrays', () => {
  const nan = Number.NaN
  const blob = literal({ type: 'blob', value: Uint8Array.of(0x61) })
  const timestamp = literal({ type: 'timestamp', micros: 0n })
  const point = (latitude: number): Plain => literal({ type: 'geoPoint', latitude, longitude: 0 })
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const key = (kind: string, name: string): Plain =>
    literal({ type: 'key', key: { partition, path: [{ kind, name }] } })

  test.each<[string, Plain | undefined, Plain[], Plain[]]>([
    ['begins with nothing', undefined, [1n, 2n], [1n, 2n]],
    ['begins anew instead of a number', 5n, [1n, 2n], [1n, 2n]],
    ['makes an empty array of nothing', undefined, [], []],
    ['makes an empty array of a number', 3n, [], []],
    ['leaves an array for nothing', [1n], [], [1n]],
    ['keeps what is there twice', [1n, 1n], [1n], [1n, 1n]],
    ['takes the first of equal elements', [], [1n, 1, 1n, 2], [1n, 2]],
    ['knows 3 as 3.0', [3n], [3, 4n], [3n, 4n]],
    ['knows large numbers exactly', [2n ** 53n + 1n], [2 ** 53, 2n ** 53n], [2n ** 53n + 1n, 2 ** 53]],
    ['knows NaN and null', [nan, null], [nan, null, 1n], [nan, null, 1n]],
    ['knows all zeros as one', [0n], [0, -0], [0n]],
    ['tells a text from a blob', ['a'], [blob], ['a', blob]],
    ['tells a timestamp from an integer', [0n], [timestamp], [0n, timestamp]],
    ['tells a text from a number', [1n], ['1', true], [1n, '1', true]],
    [
      'knows entities by their properties',
      [{ a: 1n, b: 2n }],
      [{ b: 2n, a: 1 }, { a: 1n }],
      [{ a: 1n, b: 2n }, { a: 1n }],
    ],
    ['does not mind what is indexed', [excluded('a')], ['a', excluded('b')], [excluded('a'), excluded('b')]],
    ['tells meanings apart', [withMeaning(1, 'a')], ['a'], [withMeaning(1, 'a'), 'a']],
    ['knows points', [point(0)], [point(-0), point(1)], [point(0), point(1)]],
    ['knows keys', [key('K', 'a')], [key('K', 'a'), key('K', 'b')], [key('K', 'a'), key('K', 'b')]],
    [
      'tells keys by their parts',
      [key('K:"a"/L', 'b')],
      [key('K', 'a"/L:"b')],
      [key('K:"a"/L', 'b'), key('K', 'a"/L:"b')],
    ],
  ])('appendMissing %s', (_, stored, values, after) => {
    const before: Properties = stored === undefined ? {} : { list: stored }
    expect(apply(before, [append('list', ...values)])).toEqual(saying({ list: after }, null))
  })

  test.each<[string, Plain | undefined, Plain[], Plain[]]>([
    ['removes every equal element', [1n, 2n, 1, 3n, 1n], [1n], [2n, 3n]],
    ['knows NaN, null and zeros', [nan, null, 0n, -0, 1n], [nan, null, 0], [1n]],
    ['makes an empty array of nothing', undefined, [5n], []],
    ['makes an empty array of a number', 5n, [5n], []],
    ['may leave an empty array', [1n], [1n], []],
    ['knows entities by their properties', [{ a: 1n, b: 2n }, 1n], [{ b: 2n, a: 1 }], [1n]],
    ['does not mind what is indexed', [excluded('a'), 'b'], ['a'], ['b']],
  ])('removeAll %s', (_, stored, values, after) => {
    const before: Properties = stored === undefined ? {} : { list: stored }
    expect(apply(before, [remove('list', ...values)])).toEqual(saying({ list: after }, null))
  })
})

describe('the request time', () => {
  test('is in whole milliseconds, and one for all', () => {
    const time = literal({ type: 'timestamp', micros: 1_700_000_000_123_000n })
    expect(apply({ a: excluded(1n) }, [requestTime('a'), requestTime('b')], 1_700_000_000_123_999n)).toEqual(
      saying({ a: time, b: time }, time, time),
    )
  })
})

describe('a transform that changes nothing', () => {
  /** A property whose value has its exclude flag first, as our own encoder never writes it. */
  function oddlyEncoded(name: string, member: (writer: WireWriter) => void): Uint8Array {
    const writer = new WireWriter()
    const at = writer.open(3)
    writer.text(1, name)
    const value = writer.open(2)
    writer.uint32(19, 1)
    member(writer)
    writer.close(value)
    writer.close(at)
    return writer.finish()
  }

  test.each<[string, PropertyTransform, Uint8Array]>([
    ['of a number', maximum('x', 1n), oddlyEncoded('x', (writer) => writer.int64(2, 5n))],
    ['within an entity', append('x.l'), oddlyEncoded('x', (writer) => writer.bytes(6, propertyBytes({ l: [1n] })))],
  ])('%s keeps the bytes', (_, transform, bytes) => {
    const { properties } = applyTransforms(bytes, prepareTransforms([transform], request), 0n)
    expect(Buffer.from(properties).equals(bytes)).toBe(true)
  })
})

describe('several transforms', () => {
  test('take effect in order, also of one property', () => {
    expect(apply({ n: 1n }, [increment('n', 1n), increment('n', 2n), maximum('n', 10n)])).toEqual(
      saying({ n: 10n }, 2n, 4n, 10n),
    )
  })

  test('of an array take effect in order, whatever else is transformed between them', () => {
    const stored = { l: [1n, 2n, 1n, 3n] }
    const transforms = [
      ...[remove('l', 1n, 9n), increment('n', 1n), append('l', 1n, 2n, 7n), remove('l', 7n)],
      ...[append('l', 8n, 7n), increment('n', 2n)],
    ]
    expect(apply(stored, transforms)).toEqual(
      saying({ l: [2n, 3n, 1n, 8n, 7n], n: 3n }, null, 1n, null, null, null, 3n),
    )
    expect(apply(stored, [append('l', 4n), maximum('l', 5n), append('l', 6n)])).toEqual(
      saying({ l: [6n] }, null, 5n, null),
    )
    const bytes = propertyBytes(stored)
    const undone = prepareTransforms([append('l', 4n), remove('l', 4n)], request)
    expect(Buffer.from(applyTransforms(bytes, undone, 0n).properties).equals(bytes)).toBe(true)
  })

  test('500 of a large array, or within a large entity, take little longer than one', () => {
    const numbers = Array.from({ length: 20_000 }, (_, i) => BigInt(i))
    const properties = propertyBytes({
      l: numbers,
      e: Object.fromEntries(numbers.map((n) => [`p${n}`, n])),
    })
    const ms = (count: number, transform: (i: number) => PropertyTransform): number => {
      const prepared = prepareTransforms(
        Array.from({ length: count }, (_, i) => transform(i)),
        request,
      )
      const { user, system } = process.cpuUsage()
      applyTransforms(properties, prepared, 0n)
      const used = process.cpuUsage({ user, system })
      return (used.user + used.system) / 1000
    }
    const kinds = [(i: number) => append('l', BigInt(i) + 30_000n), (i: number) => increment(`e.p${i}`, 1n)]
    for (const transform of kinds) {
      ms(1, transform)
      expect(ms(500, transform)).toBeLessThan(10 * ms(1, transform) + 100)
    }
  })

  test('may number 500 on an entity and not more', () => {
    const transforms = Array.from({ length: 500 }, () => increment('n', 1n))
    expect(apply({}, transforms).after).toEqual(readBack(propertyBytes({ n: 500n })))
    expect(() => prepareTransforms([...transforms, increment('m', 1n)], request)).toThrow(/501 property transforms/)
    expect(() => checkPartCount(partLimits.propertyTransforms, 500)).not.toThrow()
  })
})

describe('a path', () => {
  test.each<[string, Properties, string, Properties]>([
    ['leads into entities', { e: { x: 1n, y: 2n } }, 'e.x', { e: { x: 6n, y: 2n } }],
    ['makes entities on its way', { e: { y: 2n } }, 'e.x.z', { e: { y: 2n, x: { z: 5n } } }],
    ['puts an entity in the place of a number', { e: 5n }, 'e.x', { e: { x: 5n } }],
    ['puts an entity in the place of null', { e: null }, 'e.x', { e: { x: 5n } }],
    ['leads into no array', { e: [{ x: 1n }] }, 'e.x', { e: { x: 5n } }],
    ['keeps the flags of entities', { e: excluded({ x: 1n }) }, 'e.x', { e: excluded({ x: 6n }) }],
    ['may have dots in its names', { 'e.x': 1n, e: { x: 2n } }, 'e\\.x', { 'e.x': 6n, e: { x: 2n } }],
  ])('%s', (_, stored, path, after) => {
    expect(apply(stored, [increment(path, 5n)]).after).toEqual(readBack(propertyBytes(after)))
  })

  test('within a path of the same mutation is refused', () => {
    expect(() => prepareTransforms([increment('e.x', 1n), increment('e', 1n)], request)).toThrow(/e and e\.x within it/)
    expect(() => prepareTransforms([increment('e', 1n), increment('e.x.y', 1n)], request)).toThrow(/within it/)
    expect(() => prepareTransforms([increment('e\\.x', 1n), increment('e', 1n)], request)).not.toThrow()
  })
})

describe('refused before anything is done', () => {
  test.each<[string, PropertyTransform, RegExp]>([
    ['an increment by a text', increment('n', 'x'), /has a string as operand/],
    ['an increment by null', increment('n', null), /has a null as operand/],
    ['a maximum of a boolean', maximum('n', true), /has a boolean as operand/],
    ['an empty path', increment('', 1n), /empty path/],
    ['__key__', increment('__key__', 1n), /reserved/],
    ['a reserved name', increment('e.__x__', 1n), /reserved/],
    ['22 levels', increment(Array.from({ length: 22 }, () => 'a').join('.'), 1n), /22 names, at most 21/],
    ['an array as an element', append('list', [1n]), /array/],
    ['a reserved name in an element', append('list', { __x__: 1n }), /reserved/],
    ['an element of meaning 18', append('e.list', withMeaning(18, 1n)), /meaning 18/],
    ['an indexed element that is too long', append('list', 'x'.repeat(1501)), /at most 1500 can be indexed/],
  ])('%s', (_, transform, why) => {
    expect(() => prepareTransforms([transform], request)).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(why) }),
    )
  })

  test('a long element is, within an entity too', () => {
    expect(() => prepareTransforms([append('e.list', 'x'.repeat(1501))], request)).toThrow(/"list" has 1501 bytes/)
  })

  test('elements of array transforms count towards 500 transforms', () => {
    const elements = (count: number) => Array.from({ length: count }, (_, i) => `e${i}`)
    const one = { property: 'n', type: 'increment', value: { type: 'integer', value: 1n } } as const
    expect(() => prepareTransforms([append('list', ...elements(499)), one], request)).not.toThrow()
    expect(() => prepareTransforms([append('list', ...elements(500)), one], request)).toThrow(/501 property transforms/)
    expect(() => prepareTransforms([remove('list', ...elements(501))], request)).toThrow(/501 property transforms/)
  })
})
