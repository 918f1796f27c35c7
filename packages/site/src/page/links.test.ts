import { expect, test } from 'vitest'
import { labInWords, readLink } from './links.ts'

const offer = (name: string, settings: readonly object[]): never =>
  ({ name, title: 'One key', settings, arms: [] }) as unknown as never

const labs = [offer('hot-key', [{ name: 'keys', value: 4, least: 1, most: 40, unit: 'keys' }]), offer('ids', [])]

test('a link brings a fixture, a query, a lab with settings, and a page of the console', () => {
  const fixture = '- key: ToDo:1 # & more=1'
  const query = 'SELECT * FROM ToDo WHERE n > 1'
  expect(readLink(`#${new URLSearchParams({ fixture, query })}`)).toEqual({ fixture, query })
  const { lab } = readLink('#lab=hot-key&seed=3&set=keys%3D8')
  expect(lab).toEqual({ name: 'hot-key', seed: 3, settings: { keys: 8 } })
  expect(labInWords(lab as never, labs)).toBe('hot-key: One key\nseed: 3\nkeys: 8 keys, instead of 4')
  expect(readLink('#console=/labs/hot-key')).toEqual({ console: '/labs/hot-key' })
  expect(readLink('')).toEqual({})
})

test.each([
  [`#fixture=${'a'.repeat(16_384)}`, 'A link has at most 16384 characters; this one has 16393.'],
  ['#tables', 'A link brings fixture, query, lab, seed, set, console; this one has “tables”.'],
  ['#fixture=', 'This link has an empty “fixture”.'],
  ['#query=a&query=b', 'This link has more than one “query”.'],
  ['#seed=3', 'This link has a seed or settings without a lab.'],
  ['#lab=hot-key&seed=1.5', 'A seed is a whole number from 0 to 4294967295; this link has “1.5”.'],
  ['#lab=hot-key&set=keys', 'A setting is written set=name%3Dnumber; this link has “keys”.'],
  ['#lab=hot-keys', 'There is no lab “hot-keys”; there is hot-key, ids.'],
  ['#lab=hot-key&set=rows%3D1', 'The lab hot-key has no setting “rows”; it has keys.'],
  ['#lab=ids&set=rows%3D1', 'The lab ids has no setting “rows”; it has none.'],
  ['#lab=hot-key&set=keys%3D41', 'The setting keys is from 1 to 40 keys; this link has 41.'],
])('the link %.20s is refused', (hash, sentence) => {
  expect(() => {
    const { lab } = readLink(hash)
    if (lab !== undefined) labInWords(lab, labs)
  }).toThrow(sentence)
})
