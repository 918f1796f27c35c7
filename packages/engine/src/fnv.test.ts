import { expect, test } from 'vitest'
import { fnv } from './fnv.ts'

test('texts have the published hashes of FNV-1a, and a text in two parts that of the whole', () => {
  expect(fnv('') >>> 0).toBe(0x811c9dc5)
  expect(fnv('a') >>> 0).toBe(0xe40c292c)
  expect(fnv('foobar') >>> 0).toBe(0xbf9cf968)
  expect(fnv('bar', fnv('foo'))).toBe(fnv('foobar'))
})
