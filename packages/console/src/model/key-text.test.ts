import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatKeyPath, KeyTextError, type PathElement, parseKeyPath } from './key-text.ts'

const texts = fc.oneof(
  fc.constantFrom('ToDo', 'a b', '"', '\\', '/', ':', '5', '-1', 'é\u202e'),
  fc.string({ minLength: 1 }),
)
const ids = fc.bigInt({ min: 1n - 2n ** 63n, max: 2n ** 63n - 1n }).filter((id) => id !== 0n)
const complete = fc.oneof(fc.record({ kind: texts, name: texts }), fc.record({ kind: texts, id: ids.map(String) }))
const paths = fc
  .tuple(fc.array(complete, { maxLength: 3 }), fc.oneof(complete, fc.record({ kind: texts })))
  .map(([above, last]): readonly PathElement[] => [...above, last])

test('key-text/K1: a path that is written as a text is read as the same path', () => {
  fc.assert(
    fc.property(paths, (path) => {
      expect(parseKeyPath(formatKeyPath(path))).toEqual(path)
    }),
  )
})

test('a name needs no quotes where it cannot be taken for something else', () => {
  expect(parseKeyPath('User:ada/ToDo:5')).toEqual([
    { kind: 'User', name: 'ada' },
    { kind: 'ToDo', id: '5' },
  ])
})

test.each([
  ['', 'a kind is missing at position 1'],
  ['ToDo:', 'an id or a name is missing at position 6'],
  ['ToDo 5', 'after the kind ToDo comes a colon'],
  ['ToDo:0', '0 is not an id'],
  ['ToDo:9223372036854775808', 'is not an id'],
  ['User:"ada', 'an id or a name is missing at position 6'],
  ['ToDo:5 ', '" " was not expected'],
])('the text %j is no key: %s', (text, message) => {
  expect(() => parseKeyPath(text)).toThrow(KeyTextError)
  expect(() => parseKeyPath(text)).toThrow(`This is no key: `)
  expect(() => parseKeyPath(text)).toThrow(message)
})
