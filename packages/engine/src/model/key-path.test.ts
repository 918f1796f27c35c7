import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { formatKeyPath } from '../typed-keys.ts'
import { formatKey, type PathElement } from './key.ts'
import { parseKeyPath, parseKindPath } from './key-path.ts'

describe('a typed key', () => {
  test.each<[string, readonly PathElement[]]>([
    ['ToDo:1', [{ kind: 'ToDo', id: 1n }]],
    ['ToDo:-9223372036854775808', [{ kind: 'ToDo', id: -(2n ** 63n) }]],
    [
      'User:ada/ToDo:5',
      [
        { kind: 'User', name: 'ada' },
        { kind: 'ToDo', id: 5n },
      ],
    ],
    ['User:"5"', [{ kind: 'User', name: '5' }]],
    ['"a kind":"a/b:\\"c\\""', [{ kind: 'a kind', name: 'a/b:"c"' }]],
  ])('%s is a path, root first', (text, path) => {
    expect(parseKeyPath(text)).toEqual(path)
  })

  test.each([
    ['', 'a kind is missing at position 1'],
    ['ToDo', 'after the kind ToDo comes a colon'],
    ['ToDo:', 'an id or a name is missing'],
    ['ToDo:1/', 'a kind is missing'],
    ['ToDo:0', '0 is not an id'],
    ['ToDo:9223372036854775808', 'is not an id'],
    ['ToDo:1 x', '" x" was not expected'],
    ['ToDo:"a', 'is missing'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => parseKeyPath(text)).toThrow(why)
  })

  test('what the engine prints is read back', () => {
    const element = fc.oneof(
      fc.record({ kind: fc.stringMatching(/^[A-Za-z_]\w*$/), name: fc.string({ minLength: 1 }) }),
      fc.record({
        kind: fc.stringMatching(/^[A-Za-z_]\w*$/),
        id: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
      }),
    )
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 4 }), (path) => {
        const text = formatKey({ partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path })
        expect(parseKeyPath(text)).toEqual(path)
      }),
      { numRuns: 200 },
    )
  })

  test('what is written for a program is read back, whatever the kinds', () => {
    const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((one) => one !== 0n)
    const text = fc.string({ minLength: 1, unit: 'binary' })
    const element = fc.oneof(fc.record({ kind: text, name: text }), fc.record({ kind: text, id }))
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 4 }), (path) => {
        expect(parseKeyPath(formatKeyPath(path))).toEqual(path)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a typed kind', () => {
  test.each<[string, readonly PathElement[]]>([
    ['ToDo', [{ kind: 'ToDo' }]],
    ['"a/b"', [{ kind: 'a/b' }]],
    ['User:ada/ToDo', [{ kind: 'User', name: 'ada' }, { kind: 'ToDo' }]],
    ['User:5/"a kind"', [{ kind: 'User', id: 5n }, { kind: 'a kind' }]],
  ])('%s is a path that lacks its last id', (text, path) => {
    expect(parseKindPath(text)).toEqual(path)
  })

  test.each([
    ['', 'a kind is missing at position 1'],
    ['ToDo:1', 'its last element has an id or a name'],
    ['User/ToDo', 'after the kind User comes a colon'],
    ['User:ada/', 'a kind is missing'],
    ['ToDo x', 'after the kind ToDo comes a colon'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => parseKindPath(text)).toThrow(why)
    expect(() => parseKindPath(text)).toThrow('write it like ToDo or User:"ada"/ToDo')
  })
})

test('of an id with many digits only the first ones are read', () => {
  const read = vi.spyOn(globalThis, 'BigInt')
  expect(() => parseKeyPath(`ToDo:-${'9'.repeat(1000)}`)).toThrow('is not an id')
  expect(parseKeyPath(`ToDo:-${'0'.repeat(1000)}7`)).toEqual([{ kind: 'ToDo', id: -7n }])
  for (const [text] of read.mock.calls) expect(String(text).length).toBeLessThan(22)
})
