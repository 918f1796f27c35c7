import { expect, test } from 'vitest'
import { LruMap } from './lru-map.ts'

test('the least recently used entry makes room', () => {
  const subjects = new LruMap(2, (subject) => ({ subject, count: 0 }))
  subjects.of('a').count++
  subjects.of('b').count++
  subjects.of('a').count++
  subjects.of('a').count++
  subjects.of('c')
  expect([...subjects.entries()].map(([subject, { count }]) => [subject, count])).toEqual([
    ['a', 3],
    ['c', 0],
  ])
  expect(subjects.get('b')).toBeUndefined()
})
