import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Key, PathElement } from '../model/key.ts'
import { rowsOfDatabase, scatteredRowKey, sequentialRowKey, sequentialRowKeys } from './id-sequences.ts'

const texts = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'ab', '#1', '=a', '1', 'sequential') },
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

const inWords = ({ partition, path }: Key): string =>
  JSON.stringify([partition, path], (_, value) => (typeof value === 'bigint' ? `${value}n` : value))

/** Keys that differ in one place, or nowhere. */
const pairsOfNeighbours: fc.Arbitrary<[Key, Key]> = fc
  .tuple(keys, fc.nat(), texts)
  .map(([key, place, text]): [Key, Key] => {
    const { partition, path } = key
    const names = ['projectId', 'databaseId', 'namespaceId'] as const
    const name = names[place % (names.length + path.length)]
    if (name !== undefined) return [key, { partition: { ...partition, [name]: text }, path }]
    const at = (place % (names.length + path.length)) - names.length
    return [key, { partition, path: path.with(at, { ...(path[at] as PathElement), kind: text }) }]
  })

describe('the scope of a counter', () => {
  test('has a row key of its own, among those of its database', () => {
    const pairs = fc.oneof(fc.tuple(keys, keys), pairsOfNeighbours)
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const row = sequentialRowKey(one)
        expect(row === sequentialRowKey(other)).toBe(inWords(one) === inWords(other))
        const isSameDatabase =
          one.partition.projectId === other.partition.projectId &&
          one.partition.databaseId === other.partition.databaseId
        expect(row.startsWith(rowsOfDatabase(other.partition))).toBe(isSameDatabase)
      }),
      { numRuns: 1000 },
    )
  })

  test('does not depend on the id or name of the element it numbers', () => {
    const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
    const path = [{ kind: 'User', name: 'ada' }, { kind: 'ToDo' }]
    const complete = [...path.slice(0, 1), { kind: 'ToDo', id: 5n }, { kind: 'Step', id: 1n }]
    expect(sequentialRowKeys({ partition, path: complete })[1]).toBe(sequentialRowKey({ partition, path }))
  })

  test('the scattered one of a database is none of its sequential ones', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const { projectId, databaseId } = key.partition
        const row = scatteredRowKey(projectId, databaseId)
        expect(row.startsWith(rowsOfDatabase(key.partition))).toBe(true)
        expect(row).not.toBe(sequentialRowKey(key))
      }),
    )
  })
})
