import { describe, expect, it, vi } from 'vitest'
import { entity, field, hex, joined, keyOf, request } from '../../test/property/entity-messages.ts'
import { DatastoreError } from '../errors.ts'
import type { Key, PathElement } from '../model/key.ts'
import { countedMax } from '../part-limits.ts'
import { decodeKey, encodeKey } from './entity-codec.ts'
import { prepareEntity } from './validate-entity.ts'
import { validateDatabase, validateKey } from './validate-key.ts'
import { WireReader } from './wire.ts'

/** The refusal's text; `undefined` when nothing is refused. Anything but INVALID_ARGUMENT is thrown on. */
function refusal(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof DatastoreError && error.code === 'INVALID_ARGUMENT') return error.message
    throw error
  }
  return undefined
}

const a = { kind: 'A', name: 'n' }
const deep = (elements: number): PathElement[] => Array.from({ length: elements }, () => ({ kind: 'A', id: 1n }))
const inPartition = (partition: Parameters<typeof keyOf>[1]): Key => keyOf([a], partition)

/** Row of the measured table, what, key, message of a write, message of a lookup ("" = accepted). */
const rows: readonly [number, string, Key | Uint8Array, string, string][] = [
  [1, 'empty path', field(1, field(2, 'p')), 'no path elements', 'no path elements'],
  [2, 'empty kind', keyOf([{ kind: '', id: 1n }]), 'empty kind', 'empty kind'],
  [3, 'id 0', hex('12 05 0a 01 41 10 00'), 'the id 0', 'the id 0'],
  [4, 'negative id', keyOf([{ kind: 'A', id: -5n }]), '', ''],
  [5, 'empty name', hex('12 05 0a 01 41 1a 00'), 'empty name', 'empty name'],
  [6, 'name of 1,500 bytes', keyOf([{ kind: 'A', name: 'x'.repeat(1500) }]), '', ''],
  [7, 'name of 1,501 bytes', keyOf([{ kind: 'A', name: 'x'.repeat(1501) }]), '1501 bytes', '1501 bytes'],
  [
    7,
    'name of 501 characters and 1,503 bytes',
    keyOf([{ kind: 'A', name: '€'.repeat(501) }]),
    '1503 bytes',
    '1503 bytes',
  ],
  [6, 'name of 500 characters and 1,500 bytes', keyOf([{ kind: 'A', name: '€'.repeat(500) }]), '', ''],
  [8, 'kind of 1,501 bytes', keyOf([{ kind: 'k'.repeat(1501), id: 1n }]), '1501 bytes', '1501 bytes'],
  [9, 'reserved kind', keyOf([{ kind: '__x__', id: 1n }]), 'The kind "__x__" is reserved', ''],
  [9, 'reserved kind of an ancestor', keyOf([{ kind: '__x__', id: 1n }, a]), 'The kind "__x__" is reserved', ''],
  [9, 'kind of four underscores', keyOf([{ kind: '____', id: 1n }]), 'reserved', ''],
  [9, 'kind of three underscores', keyOf([{ kind: '___', id: 1n }]), '', ''],
  [9, 'kind that only begins as reserved', keyOf([{ kind: '__x', id: 1n }]), '', ''],
  [11, 'statistics kind', keyOf([{ kind: '__Stat_Kind__', id: 1n }]), 'The kind "__Stat_Kind__" is reserved', ''],
  [13, 'reserved name', keyOf([{ kind: 'A', name: '__n__' }]), 'The key path element name "__n__" is reserved', ''],
  [15, 'incomplete ancestor', keyOf([{ kind: 'P' }, a]), 'P:?/A:"n"', 'incomplete ancestor'],
  [16, 'depth of 100', keyOf(deep(100)), '', ''],
  [17, 'depth of 101', keyOf(deep(101)), '101 path elements', '101 path elements'],
  [
    18,
    'namespace with bad characters',
    inPartition({ namespaceId: 'a b' }),
    'illegal namespace "a b"',
    'illegal namespace',
  ],
  [18, 'namespace of every good character', inPartition({ namespaceId: 'aZ09._-' }), '', ''],
  [
    18,
    'namespace with a line break at its end',
    inPartition({ namespaceId: 'a\n' }),
    'illegal namespace',
    'illegal namespace',
  ],
  [
    19,
    'namespace of 101 characters',
    inPartition({ namespaceId: 'n'.repeat(101) }),
    'illegal namespace',
    'illegal namespace',
  ],
  [19, 'namespace of 100 characters', inPartition({ namespaceId: 'n'.repeat(100) }), '', ''],
  [20, 'reserved namespace', inPartition({ namespaceId: '__a__' }), 'The namespace id "__a__" is reserved', ''],
  [22, 'other project', inPartition({ projectId: 'q' }), 'within request: p vs. q', 'vs. q'],
  [
    23,
    'database (default)',
    inPartition({ databaseId: '(default)' }),
    'illegal database id "(default)"',
    'illegal database',
  ],
  [24, 'other database', inPartition({ databaseId: 'd' }), 'p vs. p#d', 'mismatched databases within request'],
  [25, 'no partition', hex('12 05 0a 01 41 10 01'), '', ''],
  [26, 'incomplete key', keyOf([{ kind: 'A' }]), '', 'incomplete'],
  [0, 'key of 6,144 bytes', keyOf(longPath(6144)), '', ''],
  [0, 'key of 6,145 bytes', keyOf(longPath(6145)), '6145 bytes, at most 6144', '6145 bytes'],
  [0, 'key of 6,146 bytes in short names', keyOf(euros(14)), '6146 bytes, at most 6144', '6146 bytes'],
  [0, 'key of 5,707 bytes in short names', keyOf(euros(13)), '', ''],
  [
    0,
    'name that is not UTF-8',
    field(2, joined(field(1, 'A'), field(3, hex('ff')))),
    'not valid UTF-8',
    'not valid UTF-8',
  ],
]

describe('keys of entities and lookups', () => {
  for (const [row, what, key, write, lookup] of rows) {
    const bytes = key instanceof Uint8Array ? key : encodeKey(key)
    const title = `${what}${row === 0 ? '' : ` (row ${row})`}`
    it(`a write ${write === '' ? 'accepts' : 'refuses'} ${title}`, () => {
      const message = refusal(() => prepareEntity(field(1, bytes), request))
      if (write === '') expect(message).toBeUndefined()
      else expect(message).toContain(write)
    })
    it(`a lookup ${lookup === '' ? 'accepts' : 'refuses'} ${title}`, () => {
      const message = refusal(() => validateKey(decodeKey(bytes, request), 'lookup', request))
      if (lookup === '') expect(message).toBeUndefined()
      else expect(message).toContain(lookup)
    })
  }

  it('a write refuses an entity without a key (row 29)', () => {
    expect(refusal(() => prepareEntity(entity(undefined), request))).toContain('has no key')
  })

  it('an update and a delete refuse an incomplete key (rows 27, 28)', () => {
    const incomplete = keyOf([{ kind: 'A' }])
    expect(refusal(() => validateKey(incomplete, 'complete', request))).toContain('A:? is incomplete')
    expect(refusal(() => validateKey(keyOf([{ kind: '__x__', id: 1n }]), 'complete', request))).toContain('reserved')
    expect(refusal(() => validateKey(keyOf([a]), 'complete', request))).toBeUndefined()
  })

  it('a key is good again after a bad one, and bad again after a good one', () => {
    for (let i = 0; i < 3; i++) {
      expect(refusal(() => validateKey(inPartition({ namespaceId: 'good' }), 'lookup', request))).toBeUndefined()
      expect(refusal(() => validateKey(inPartition({ namespaceId: 'b d' }), 'lookup', request))).toContain('illegal')
    }
  })
})

describe('keys of other calls', () => {
  it('AllocateIds wants incomplete keys of kinds that are not reserved (rows 193, 194, 196)', () => {
    expect(refusal(() => validateKey(keyOf([{ kind: 'A' }]), 'allocate', request))).toBeUndefined()
    expect(refusal(() => validateKey(keyOf([a]), 'allocate', request))).toContain('is complete')
    expect(refusal(() => validateKey(keyOf([{ kind: 'A', id: 5n }]), 'allocate', request))).toContain('is complete')
    expect(refusal(() => validateKey(keyOf([{ kind: '__x__' }]), 'allocate', request))).toContain('reserved')
  })

  it('a key value may name another project or a reserved kind, but is complete (rows 87, 88)', () => {
    expect(
      refusal(() => validateKey(inPartition({ projectId: 'q', databaseId: 'd' }), 'value', undefined)),
    ).toBeUndefined()
    expect(refusal(() => validateKey(keyOf([{ kind: '__kind__', name: 'A' }]), 'value', undefined))).toBeUndefined()
    expect(refusal(() => validateKey(keyOf([{ kind: 'A' }]), 'value', undefined))).toContain('incomplete')
  })
})

describe('names of databases', () => {
  for (const [projectId, databaseId, message] of [
    ['p', '', ''],
    ['my-project-1', 'db2', ''],
    ['1', '', ''],
    ['__p__', '', ''],
    ['example.com:project', '', ''],
    ['', '', 'the project id is missing'],
    ...['.', 'a.b', '-a', 'A', 'a_b', 'a/b', 's~a', 'a:b:c', '-a:b', 'a:-b', '__a', 'p'.repeat(101)].map(
      (id) => [id, '', 'is an invalid project id'] as const,
    ),
    ['p', '(default)', 'illegal database id "(default)"'],
    ['p', 'a b', 'illegal database id "a b"'],
    ['p', 'd'.repeat(101), 'illegal database id'],
  ] as const) {
    it(`${JSON.stringify(projectId.slice(0, 20))} ${JSON.stringify(databaseId.slice(0, 20))} is ${message || 'good'}`, () => {
      const found = refusal(() => validateDatabase({ projectId, databaseId }))
      if (message === '') expect(found).toBeUndefined()
      else expect(found).toContain(message)
    })
  }
})

/** Elements of 147 characters and 439 bytes. */
function euros(elements: number): PathElement[] {
  return Array.from({ length: elements }, () => ({ kind: 'A', name: '€'.repeat(146) }))
}

/** A path whose kinds and names are `bytes` long together. */
function longPath(bytes: number): PathElement[] {
  const path: PathElement[] = []
  for (let left = bytes; left > 0; left -= 1000) path.push({ kind: 'k', name: 'n'.repeat(Math.min(left, 1000) - 1) })
  return path
}

it('the elements of a path beyond the limit are counted up to a bound, and not made', () => {
  const pathOf = (elements: number): Buffer => Buffer.alloc(5 * elements, Buffer.from([0x12, 3, 0x0a, 1, 0x41]))
  const read = vi.spyOn(WireReader.prototype, 'tag')
  const refused = (elements: number): void => {
    decodeKey(pathOf(elements), { projectId: 'p', databaseId: '' })
  }
  expect(() => refused(5_000)).toThrow('a key has 5000 path elements, at most 100 are allowed')
  expect(read.mock.calls.length).toBeLessThan(5_300)
  expect(() => refused(4 * countedMax)).toThrow('a key has more than 100000 path elements')
  expect(read.mock.calls.length).toBeLessThan(1.1 * countedMax)
})
