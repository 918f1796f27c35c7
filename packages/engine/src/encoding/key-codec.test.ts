import { expect, test } from 'vitest'
import { InvariantError } from '../invariant.ts'
import type { PathElement } from '../model/key.ts'
import { invert } from './bytes.ts'
import { decodePath, keyCodes, keyRow, partitionCode, pathCode, skipPath } from './key-codec.ts'
import { encodeText } from './ordered.ts'

test('keys stand in the order that both of Google’s emulators give them', () => {
  const measured: PathElement[][] = [
    [{ kind: 'A', id: -1n }],
    [{ kind: 'A', id: 1n }],
    [
      { kind: 'A', id: 1n },
      { kind: 'A', id: 1n },
    ],
    [
      { kind: 'A', id: 1n },
      { kind: 'B', name: 'x' },
    ],
    [{ kind: 'A', id: 2n }],
    [{ kind: 'A', name: '1' }],
    [{ kind: 'A', name: 'a' }],
    [
      { kind: 'A', name: 'a' },
      { kind: 'A', id: 5n },
    ],
    [{ kind: 'A', name: 'é' }],
    [{ kind: 'B', id: 1n }],
  ]
  const codes = measured.map(pathCode)
  expect([...codes].sort()).toEqual(codes)
})

test('an incomplete key has no row', () => {
  expect(() => pathCode([{ kind: 'A' }])).toThrow(InvariantError)
  expect(() => keyCodes({ partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [] })).toThrow(
    InvariantError,
  )
})

test('the row of a key is its key space, partition and path, whatever its texts', () => {
  const texts = ['a', 'Kind_1', '', 'é', '\u0000', 'a\u0000b', '\u007f', '\u0080', 'x'.repeat(400), '\ud83d\ude00']
  const ids = [1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]
  const elements: PathElement[] = texts.flatMap((kind) => [
    ...texts.map((name) => ({ kind, name })),
    ...ids.map((id) => ({ kind, id })),
  ])
  for (const namespaceId of ['', 'n', 'n'.repeat(1100)]) {
    const partition = { projectId: 'p', databaseId: '', namespaceId }
    for (const [i, element] of elements.entries()) {
      for (const path of [[element], [element, elements[(i * 7) % elements.length] ?? element, element]]) {
        expect(keyRow('E', { partition, path })).toBe(`E${partitionCode(partition)}${pathCode(path)}`)
      }
    }
  }
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  expect(() => keyRow('E', { partition, path: [{ kind: 'A' }] })).toThrow(InvariantError)
})

test('the codes of more partitions than are remembered stay right', () => {
  const partitions = Array.from({ length: 40 }, (_, i) => ({
    projectId: `p${i % 20}`,
    databaseId: i % 3 === 0 ? 'd' : '',
    namespaceId: 'n'.repeat(i % 2),
  }))
  for (const partition of [...partitions, ...partitions]) {
    const { projectId, databaseId, namespaceId } = partition
    expect(partitionCode(partition)).toBe([projectId, databaseId, namespaceId].map(encodeText).join(''))
  }
})

test('a remembered partition does not change with the object it came in', () => {
  const partition = { projectId: 'mine', databaseId: '', namespaceId: '' }
  const code = partitionCode(partition)
  partition.projectId = 'yours'
  expect(partitionCode(partition)).not.toBe(code)
})

test('a broken path is an invariant broken', () => {
  const code = pathCode([{ kind: 'A', id: 1n }])
  for (const broken of [code.slice(0, -1), `\x01${encodeText('A')}\x04`, '\x02', '']) {
    expect(() => decodePath(broken, 0)).toThrow(InvariantError)
    expect(() => skipPath(broken, 0)).toThrow(InvariantError)
    expect(() => skipPath(invert(broken), 0, true)).toThrow(InvariantError)
  }
})
