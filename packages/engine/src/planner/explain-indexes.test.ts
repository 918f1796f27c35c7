import { expect, test } from 'vitest'
import { and, index, or, type QueryWords, query, queryDatabase, where } from '../testing/query-world.ts'
import { indexesUsed } from './explain-indexes.ts'
import { normalize } from './normalize.ts'
import { plan } from './plan.ts'

function used(words: QueryWords, ...definitions: string[]): string[] {
  const indexes = definitions.map((definition, i) => index(definition, BigInt(i + 1)))
  const planned = plan(normalize(query({ kind: 'ToDo', ...words }), queryDatabase), indexes)
  return indexesUsed(planned).map(({ queryScope, properties }) => `${queryScope} ${properties}`)
}

const owner = where('owner', '=', 'ada')
const done = where('done', '=', false)

test('built-in indexes are named by their property and the key', () => {
  expect(used({})).toEqual(['Collection group (__name__ ASC)'])
  expect(used({ filter: owner })).toEqual(['Collection group (owner ASC, __name__ ASC)'])
  expect(used({ filter: where('priority', '>', 3n) })).toEqual(['Collection group (priority ASC, __name__ ASC)'])
  expect(used({ order: ['priority desc'] })).toEqual(['Collection group (priority DESC, __name__ ASC)'])
})

test('a join names each of its indexes, and one that is scanned twice once', () => {
  expect(used({ filter: and(owner, done) })).toEqual([
    'Collection group (done ASC, __name__ ASC)',
    'Collection group (owner ASC, __name__ ASC)',
  ])
  expect(used({ filter: or(owner, where('owner', '=', 'bob')) })).toEqual([
    'Collection group (owner ASC, __name__ ASC)',
  ])
})

test('a composite index is named as it is defined', () => {
  expect(used({ filter: owner, order: ['due desc'] }, 'ToDo(owner, due desc)')).toEqual([
    'Collection group (owner ASC, due DESC, __name__ ASC)',
  ])
  const under = where('__key__', 'under', {
    partition: { ...queryDatabase, namespaceId: '' },
    path: [{ kind: 'L', id: 1n }],
  })
  expect(used({ filter: under, order: ['due'] }, 'ToDo(ancestor, due)')).toEqual([
    'Includes ancestors (due ASC, __name__ ASC)',
  ])
})

test('a filter that contradicts itself uses no index', () => {
  expect(used({ filter: and(where('p', '>', 3n), where('p', '<', 2n)) })).toEqual([])
})
