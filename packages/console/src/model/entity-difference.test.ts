import { expect, test } from 'vitest'
import { differencesOf } from './entity-difference.ts'

const array = (...values: object[]) => ({ arrayValue: { values } }) as never

test('entity-difference/D1: another order, and another writing of the same, is no difference', () => {
  expect(
    differencesOf(
      { a: { integerValue: '1' }, b: { doubleValue: -0 } },
      { b: { doubleValue: '-0' }, a: { integerValue: 1 } },
    ),
  ).toEqual([])
})

test('a difference names its place and both values with their types', () => {
  const before = { n: { integerValue: '1' }, gone: { nullValue: null }, t: { stringValue: 'a' } }
  const after = {
    n: { doubleValue: 1 },
    t: { stringValue: 'a', excludeFromIndexes: true },
    ['new']: { booleanValue: true },
  }
  expect(differencesOf(before, after)).toEqual([
    { path: 'gone', before: 'null' },
    { path: 'n', before: '1 integer', after: '1 double' },
    { path: 'new', after: 'true boolean' },
    { path: 't', before: '"a" string', after: '"a" string, not indexed' },
  ])
})

test('entity-difference/D1: embedded entities whose keys are of two namespaces differ', () => {
  const entity = (namespaceId: string) => ({
    home: { entityValue: { key: { partitionId: { projectId: 'p', namespaceId }, path: [{ kind: 'K', id: '1' }] } } },
  })
  expect(differencesOf(entity('a'), entity('a'))).toEqual([])
  expect(differencesOf(entity('a'), entity('b')).map(({ path }) => path)).toEqual(['home'])
})

test('embedded entities and arrays are compared part by part', () => {
  const entity = (zip: string, tags: never) => ({
    address: { entityValue: { properties: { zip: { stringValue: zip }, tags } } },
  })
  const [a, b, c] = ['a', 'b', 'c'].map((text) => ({ stringValue: text })) as [object, object, object]
  expect(differencesOf(entity('1', array(a, b)), entity('2', array(a, c, b)))).toEqual([
    { path: 'address.tags[1]', before: '"b" string', after: '"c" string' },
    { path: 'address.tags[2]', after: '"b" string' },
    { path: 'address.zip', before: '"1" string', after: '"2" string' },
  ])
})
