import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Key, PathElement } from '../model/key.ts'
import { parseIdScope, scatteredRowKey, sequentialRowKey, sequentialRowKeys } from './id-scope.ts'

const texts = fc.oneof(
  fc.constantFrom('a', 'ab', '#1', '=a', '1', 'sequential'),
  fc.string({ minLength: 1, maxLength: 3 }),
)
const elements: fc.Arbitrary<PathElement> = fc.oneof(
  fc.record({ kind: texts, id: fc.bigInt({ min: -2n, max: 2n }) }),
  fc.record({ kind: texts, name: texts }),
)
const keys: fc.Arbitrary<Key> = fc.record({
  partition: fc.record({ projectId: texts, databaseId: texts, namespaceId: texts }),
  path: fc
    .tuple(fc.array(elements, { maxLength: 3 }), texts)
    .map(([ancestors, kind]): PathElement[] => [...ancestors, { kind }]),
})

describe('the scope of a counter', () => {
  test('is read back from the row key', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const { projectId, databaseId } = key.partition
        expect(parseIdScope(sequentialRowKey(key))).toEqual({ space: 'sequential', projectId, databaseId, key })
      }),
      { numRuns: 300 },
    )
  })

  test('does not depend on the id or name of the element it numbers', () => {
    const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
    const path = [{ kind: 'User', name: 'ada' }, { kind: 'ToDo' }]
    const complete = [...path.slice(0, 1), { kind: 'ToDo', id: 5n }, { kind: 'Step', id: 1n }]
    expect(sequentialRowKeys({ partition, path: complete })[1]).toBe(sequentialRowKey({ partition, path }))
  })

  test('the scattered one is the same for all kinds of a database', () => {
    const scope = parseIdScope(scatteredRowKey('p', 'd'))
    expect(scope).toEqual({ space: 'scattered', projectId: 'p', databaseId: 'd', key: undefined })
  })
})
