import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import protobuf from 'protobufjs'
import { describe, expect, test } from 'vitest'
import { ChunkReader, type ReadRow } from './cell-chunks.ts'

const protos = dirname(createRequire(import.meta.url).resolve('google-proto-files/package.json'))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => join(protos, target)
const type = root.loadSync('google/bigtable/v2/bigtable.proto').lookupType('google.bigtable.v2.ReadRowsResponse')

interface Chunk {
  readonly key?: string
  readonly family?: string
  readonly qualifier?: string
  readonly micros?: number
  readonly value?: string
  readonly size?: number
  readonly commit?: true
  readonly reset?: true
}

function message(chunks: readonly Chunk[], lastScanned?: string): Uint8Array {
  const plain = chunks.map(({ key = '', family, qualifier, micros = 0, value = '', size = 0, commit, reset }) => ({
    rowKey: Buffer.from(key),
    ...(family === undefined ? {} : { familyName: { value: family } }),
    ...(qualifier === undefined ? {} : { qualifier: { value: Buffer.from(qualifier) } }),
    timestampMicros: micros,
    value: Buffer.from(value),
    valueSize: size,
    ...(commit === undefined ? {} : { commitRow: true }),
    ...(reset === undefined ? {} : { resetRow: true }),
  }))
  const last = lastScanned === undefined ? {} : { lastScannedRowKey: Buffer.from(lastScanned) }
  return type.encode(type.fromObject({ chunks: plain, ...last })).finish()
}

function read(messages: readonly (readonly Chunk[])[], reversed = false): readonly ReadRow[] {
  const rows: ReadRow[] = []
  const reader = new ChunkReader((row) => rows.push(row), reversed)
  for (const chunks of messages) reader.message(message(chunks))
  reader.end()
  return rows
}

const cell = { family: 'v', qualifier: '', micros: 1000 } as const
const row = (key: string): Chunk => ({ ...cell, key, value: 'x', commit: true })

describe('chunks of ReadRows', () => {
  test('a family and a qualifier stand until they change', () => {
    const chunks: Chunk[] = [
      { key: 'a', ...cell, value: '1' },
      { micros: 0, value: '2' },
      { family: 'w', qualifier: '', micros: 3000, value: '3', commit: true },
    ]
    const cells = read([chunks]).flatMap((one) => one.cells)
    expect(cells.map(({ family, micros, value }) => [family, micros, Buffer.from(value).toString()])).toEqual([
      ['v', 1000n, '1'],
      ['v', 0n, '2'],
      ['w', 3000n, '3'],
    ])
  })

  test('a row that is reset is not given, and begins anew', () => {
    const chunks: Chunk[] = [{ key: 'a', ...cell, value: 'half', size: 9 }, { reset: true }, row('a')]
    expect(read([chunks]).map(({ key, cells }) => [key, cells.length])).toEqual([['a', 1]])
  })

  test('a last scanned key moves the place to go on from, without a row', () => {
    const reader = new ChunkReader(() => {}, false)
    reader.message(message([row('a')], 'm'))
    expect(reader.lastKey).toBe('m')
    expect(() => reader.message(message([row('c')]))).toThrow('out of order')
  })

  const broken: readonly { readonly why: string; readonly chunks: readonly Chunk[]; readonly reversed?: boolean }[] = [
    { why: 'a row begins without its key', chunks: [{ ...cell, commit: true }] },
    { why: 'begins without family or qualifier', chunks: [{ key: 'a', commit: true }] },
    { why: 'begins without family or qualifier', chunks: [{ key: 'a', family: 'v', commit: true }] },
    {
      why: 'a family without a qualifier',
      chunks: [
        { key: 'a', ...cell },
        { family: 'w', commit: true },
      ],
    },
    { why: 'before the one before it was committed', chunks: [{ key: 'a', ...cell }, row('b')] },
    { why: 'another cell begins within a value', chunks: [{ key: 'a', ...cell, size: 4 }, row('a')] },
    { why: 'committed within a value', chunks: [{ key: 'a', ...cell, size: 4, commit: true }] },
    { why: 'a reset outside a row', chunks: [{ reset: true }] },
    {
      why: 'a reset with data',
      chunks: [
        { key: 'a', ...cell },
        { reset: true, value: 'x' },
      ],
    },
    { why: 'row keys out of order', chunks: [row('b'), row('a')] },
    { why: 'row keys out of order', chunks: [row('a'), row('a')] },
    { why: 'row keys out of order', chunks: [row('a'), row('b')], reversed: true },
    { why: 'the answer ends within a row', chunks: [{ key: 'a', ...cell }] },
    { why: 'the answer ends within a row', chunks: [{ key: 'a', ...cell, size: 5 }] },
  ]
  test.each(broken)('$why is an error', ({ why, chunks, reversed }) => {
    expect(() => read([chunks], reversed)).toThrow(why)
  })
})
