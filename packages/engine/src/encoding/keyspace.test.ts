import { expect, test } from 'vitest'
import { topicRowKey } from '../tables/metadata-rows.ts'
import { tableIds } from '../tables/table.ts'
import { databaseCode } from './key-codec.ts'
import { keySpaceOf, keySpaces } from './keyspace.ts'

test('no two key spaces share a first byte, and none starts with FF', () => {
  const bytes = Object.values(keySpaces)
  expect(new Set(bytes).size).toBe(bytes.length)
  expect(bytes.every((byte) => byte.length === 1 && byte.charCodeAt(0) < 0x7f)).toBe(true)
})

test('every table has a key space of its name, and pending markers one more', () => {
  expect(Object.keys(keySpaces).sort()).toEqual([...tableIds, 'Pending'].sort())
})

test('the first byte of a row key tells its key space', () => {
  for (const [space, byte] of Object.entries(keySpaces)) expect(keySpaceOf(`${byte}x`)).toBe(space)
  expect(keySpaceOf('')).toBeUndefined()
  expect(keySpaceOf('Z')).toBeUndefined()
})

test('metadata rows of a topic stand by their parts, under the row key without parts', () => {
  const database = databaseCode('p', '')
  const topic = topicRowKey(database, 'index')
  const rowKeys = [[], ['1'], ['1', 'a'], ['10'], ['2']].map((parts) => topicRowKey(database, 'index', ...parts))
  expect([...rowKeys].sort()).toEqual(rowKeys)
  expect(rowKeys.every((rowKey) => rowKey.startsWith(topic))).toBe(true)
  expect(topicRowKey(database, 'indexes').startsWith(topic)).toBe(false)
})
