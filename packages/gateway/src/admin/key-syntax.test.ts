import { formatKey, type PathElement } from '@sixtables/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseKeyPath } from './key-syntax.ts'

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

  test('what the engine prints is read back (K1)', () => {
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
})
