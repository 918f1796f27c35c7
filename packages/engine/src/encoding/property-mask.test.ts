import { describe, expect, test } from 'vitest'
import {
  excluded,
  literal,
  type Plain,
  propertiesOf,
  propertyBytes,
  readBack,
} from '../../test/support/plain-values.ts'
import { cutProperties, mergeProperties, parsePropertyMask } from './property-mask.ts'

type Properties = { readonly [name: string]: Plain }

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const someKey = { partition, path: [{ kind: 'K', name: 'z' }] }
const keyed = (properties: Properties): Plain =>
  literal({ type: 'entity', key: someKey, properties: propertiesOf(properties) })

const expected = (plain: Properties): unknown => readBack(propertyBytes(plain))

describe('a mask', () => {
  test('of paths within each other is the outer one', () => {
    const outer = parsePropertyMask(['e'])
    expect(parsePropertyMask(['e', 'e.x'])).toEqual(outer)
    expect(parsePropertyMask(['e.x.y', 'e'])).toEqual(outer)
    expect(parsePropertyMask(['e', 'e'])).toEqual(outer)
  })

  test('may name __key__, which says nothing', () => {
    expect(parsePropertyMask(['__key__', 'a'])).toEqual(parsePropertyMask(['a']))
    expect(parsePropertyMask(['__key__'])).toEqual(parsePropertyMask([]))
  })
})

// Answers of Google's newer emulator.
describe('a read', () => {
  const stored: Properties = {
    a: 1n,
    e: { x: 1n, y: 2n, f: { g: 1n, h: 2n } },
    list: [1n, { x: 3n }],
    nothing: null,
    hidden: excluded({ x: 1n, y: 2n }),
    'dot.ted': 5n,
    keyed: keyed({ x: 1n, y: 2n }),
    empty: {},
  }

  test('of neighbours that are kept whole is a view of the stored bytes', () => {
    const bytes = propertyBytes(stored)
    const cut = cutProperties(bytes, parsePropertyMask(['a', 'e', 'list']))
    expect(cut.buffer === bytes.buffer).toBe(true)
    expect(cut.byteOffset).toBe(bytes.byteOffset)
  })

  test.each<[string[], Properties]>([
    [[], {}],
    [['__key__'], {}],
    [['a'], { a: 1n }],
    [['a', 'a'], { a: 1n }],
    [['e'], { e: { x: 1n, y: 2n, f: { g: 1n, h: 2n } } }],
    [['e.x'], { e: { x: 1n } }],
    [['e.f'], { e: { f: { g: 1n, h: 2n } } }],
    [['e.x', 'e.f.h'], { e: { x: 1n, f: { h: 2n } } }],
    [['e.none'], {}],
    [['e.none.x', 'a'], { a: 1n }],
    [['none'], {}],
    [['a.x'], {}],
    [['list'], { list: [1n, { x: 3n }] }],
    [['list.x'], {}],
    [['nothing', 'nothing.x'], { nothing: null }],
    [['nothing.x'], {}],
    [['hidden.x'], { hidden: excluded({ x: 1n }) }],
    [['keyed.x'], { keyed: { x: 1n } }],
    [['keyed.none'], {}],
    [['empty'], { empty: {} }],
    [['empty.x'], {}],
    [['dot.ted'], {}],
    [['dot\\.ted'], { 'dot.ted': 5n }],
    [['`dot.ted`'], { 'dot.ted': 5n }],
  ])('of %j', (paths, answer) => {
    const cut = cutProperties(propertyBytes(stored), parsePropertyMask(paths))
    expect(readBack(cut)).toEqual(expected(answer))
  })

  test('of top-level names is a view of the stored bytes where they lie together', () => {
    const bytes = propertyBytes(stored)
    const cut = cutProperties(bytes, parsePropertyMask(['e', 'list']))
    expect(cut.buffer === bytes.buffer).toBe(true)
    expect(readBack(cut)).toEqual(expected({ e: stored['e'] ?? null, list: stored['list'] ?? null }))
    expect(readBack(cutProperties(bytes, parsePropertyMask(['empty', 'a'])))).toEqual(expected({ a: 1n, empty: {} }))
  })
})

// Answers of Google's newer emulator.
describe('a write to an entity that exists', () => {
  const nested = { e: { x: 1n, y: 2n }, a: 1n }

  test.each<[string, Properties, Properties, string[], Properties]>([
    ['replaces what is under the mask', { a: 1n, b: 2n, c: 3n }, { a: 10n, b: 20n }, ['a'], { a: 10n, b: 2n, c: 3n }],
    ['deletes what it lacks', { a: 1n, b: 2n, c: 3n }, { a: 10n }, ['c'], { a: 1n, b: 2n }],
    ['with an empty mask changes nothing', { a: 1n }, { a: 10n, b: 20n }, [], { a: 1n }],
    ['with __key__ alone changes nothing', { a: 1n }, { a: 10n }, ['__key__'], { a: 1n }],
    ['adds what is new', { a: 1n }, { b: 2n, c: 3n }, ['b', 'c'], { a: 1n, b: 2n, c: 3n }],
    ['replaces within an entity', nested, { e: { x: 9n, y: 9n } }, ['e.x'], { e: { x: 9n, y: 2n }, a: 1n }],
    ['deletes within an entity', nested, { e: { y: 9n } }, ['e.x'], { e: { y: 2n }, a: 1n }],
    ['deletes there when it has no such entity', nested, { a: 5n }, ['e.x'], { e: { y: 2n }, a: 1n }],
    ['leaves an entity empty', nested, { e: {} }, ['e.x', 'e.y'], { e: {}, a: 1n }],
    ['leaves entities empty all the way', { e: { f: { g: 1n } } }, {}, ['e.f.g'], { e: { f: {} } }],
    ['makes no entity for nothing', { a: 1n }, {}, ['e.x'], { a: 1n }],
    ['makes no entity of an empty one', { a: 1n }, { e: {} }, ['e.x'], { a: 1n }],
    ['makes no entity of what is not under the mask', { a: 1n }, { e: { y: 1n } }, ['e.x'], { a: 1n }],
    ['makes an entity of what is', { a: 1n }, { e: { x: 1n, y: 2n } }, ['e.x'], { a: 1n, e: { x: 1n } }],
    [
      'makes entities on the way',
      { e: { i: 3n } },
      { e: { f: { g: 9n, h: 9n } } },
      ['e.f.g'],
      { e: { i: 3n, f: { g: 9n } } },
    ],
    ['puts an entity in the place of a number', { e: 5n }, { e: { x: 1n, y: 2n } }, ['e.x'], { e: { x: 1n } }],
    ['puts an entity in the place of an array', { e: [{ x: 1n }] }, { e: { x: 9n } }, ['e.x'], { e: { x: 9n } }],
    ['leaves a number for nothing', { e: 5n }, {}, ['e.x'], { e: 5n }],
    ['leaves a number for an empty entity', { e: 5n }, { e: {} }, ['e.x'], { e: 5n }],
    ['takes a number for no entity', nested, { e: 7n }, ['e.x'], { e: { y: 2n }, a: 1n }],
    ['takes an array for no entity', nested, { e: [{ x: 7n }] }, ['e.x'], { e: { y: 2n }, a: 1n }],
    [
      'replaces the whole where outer and inner are named',
      nested,
      { e: { z: 3n } },
      ['e.x', 'e'],
      { e: { z: 3n }, a: 1n },
    ],
    [
      'keeps the flags of the stored entity',
      { e: excluded({ x: 1n, y: 2n }) },
      { e: { x: 9n } },
      ['e.x'],
      { e: excluded({ x: 9n, y: 2n }) },
    ],
    [
      'takes no flags from the written one',
      { e: { x: 1n, y: 2n } },
      { e: excluded({ x: 9n }) },
      ['e.x'],
      { e: { x: 9n, y: 2n } },
    ],
    ['keeps the key of the stored entity', { e: keyed({ x: 1n }) }, { e: { x: 9n } }, ['e.x'], { e: keyed({ x: 9n }) }],
    ['takes no key from the written one', { e: { x: 1n } }, { e: keyed({ x: 2n }) }, ['e.x'], { e: { x: 2n } }],
    [
      'tells dots from levels',
      { 'e.x': 1n, e: { x: 2n } },
      { 'e.x': 8n, e: { x: 9n } },
      ['e.x'],
      { 'e.x': 1n, e: { x: 9n } },
    ],
    [
      'tells levels from dots',
      { 'e.x': 1n, e: { x: 2n } },
      { 'e.x': 8n, e: { x: 9n } },
      ['e\\.x'],
      { 'e.x': 8n, e: { x: 2n } },
    ],
  ])('%s', (_, stored, written, paths, after) => {
    const merged = mergeProperties(propertyBytes(stored), propertyBytes(written), parsePropertyMask(paths))
    expect(readBack(merged)).toEqual(expected(after))
  })

  test('that changes nothing leaves the very bytes', () => {
    const bytes = propertyBytes({ c: 1n, e: { y: 2n, x: 1n }, a: excluded('text') })
    const written = propertyBytes({ a: excluded('text'), c: 1n, e: { x: 1n } })
    expect(mergeProperties(bytes, written, parsePropertyMask(['a', 'e.x', 'c']))).toEqual(bytes)
  })
})
