/**
 * docs/reference/keyspace.md says what the code does: every example is checked in both directions, and every table of bytes
 * against the list in the code.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { bytesOf, fromHex, hexOf } from '../src/encoding/bytes.ts'
import type { IndexEntry } from '../src/encoding/index-entries.ts'
import {
  databaseCode,
  decodePartition,
  decodePath,
  keyCodes,
  partitionCode,
  pathCode,
} from '../src/encoding/key-codec.ts'
import { keySpaces } from '../src/encoding/keyspace.ts'
import {
  decodeBytes,
  decodeDouble,
  decodeInt64,
  decodeText,
  decodeUint64,
  encodeBytes,
  encodeDouble,
  encodeInt64,
  encodeText,
  encodeUint64,
} from '../src/encoding/ordered.ts'
import { prettyKey, prettyPath, prettyRowKey, prettyValue } from '../src/encoding/pretty.ts'
import { decodeValueCode, valueCode } from '../src/encoding/value-codec.ts'
import { typeBytes, valueClasses } from '../src/encoding/value-types.ts'
import type { EntityImage } from '../src/model/entity.ts'
import type { CompositeIndex } from '../src/model/index-definition.ts'
import type { Key, PartitionId } from '../src/model/key.ts'
import type { IndexableValue, Value } from '../src/model/value.ts'
import { encodeImage, entityRowKeyOf } from '../src/tables/entities.ts'
import { encodeCounter, idSequenceRowKey } from '../src/tables/id-sequences.ts'
import { logRowKey, pendingRowKey } from '../src/tables/log-rows.ts'
import { topicRowKey, wholeStore } from '../src/tables/metadata-rows.ts'
import { rowsOfEntries } from '../src/testing/row-list.ts'

const page = readFileSync(new URL('../../../docs/reference/keyspace.md', import.meta.url), 'utf8')

/** The page's tables: header cells, and rows of cells without their code quotes. */
const tables = [...page.matchAll(/^\|(.*)\|\n\|[ :|-]*\|\n((?:\|.*\|\n)+)/gm)].map(([, header = '', body = '']) => ({
  header: cellsOf(header),
  rows: body
    .trimEnd()
    .split('\n')
    .map((line) => cellsOf(line.slice(1, -1))),
}))

function cellsOf(line: string): string[] {
  return line.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'))
}

function tableOf(...header: string[]): string[][] {
  return tables.filter((table) => header.every((name, i) => table.header[i] === name)).flatMap((table) => table.rows)
}

const p: PartitionId = { projectId: 'p', databaseId: '', namespaceId: '' }
const dn: PartitionId = { projectId: 'p', databaseId: 'd', namespaceId: 'n' }
const toDo: Key = { partition: p, path: [{ kind: 'ToDo', id: 1n }] }
const adasToDo: Key = { partition: p, path: [{ kind: 'User', name: 'ada' }, ...toDo.path] }

describe('codes', () => {
  const values: readonly IndexableValue[] = [
    { type: 'null' },
    { type: 'integer', value: 5n },
    { type: 'timestamp', micros: 1_700_000_000_000_001n },
    { type: 'boolean', value: false },
    { type: 'boolean', value: true },
    { type: 'string', value: 'ada' },
    { type: 'blob', value: bytesOf('ada') },
    { type: 'double', value: 5 },
    { type: 'geoPoint', latitude: 1, longitude: -2.5 },
    {
      type: 'entity',
      meaning: 20,
      properties: new Map<string, Value>([
        ['email', { type: 'string', value: 'a@b' }],
        ['auth_domain', { type: 'string', value: 'b' }],
      ]),
    },
    { type: 'key', key: toDo },
  ]
  const paths = [
    toDo.path,
    [
      { kind: 'User', name: 'ada' },
      { kind: 'ToDo', id: -1n },
    ],
  ]

  /** The one of `known` that reads `words`. */
  function named<T>(known: readonly T[], show: (one: T) => string, words: string): T {
    const found = known.find((one) => show(one) === words)
    if (found === undefined) throw new Error(`the page shows ${words}, which this test does not know`)
    return found
  }

  const partitionWords = (partition: PartitionId): string => prettyKey({ partition, path: [] }).replace(/, $/, '')

  /** For each code: words to bytes, and bytes to words. */
  const codecs: Record<string, readonly [(words: string) => string, (code: string, words: string) => string]> = {
    text: [
      (words) => encodeText(JSON.parse(words)),
      (code, words) => (decodeText(code, 0).value === JSON.parse(words) ? words : ''),
    ],
    bytes: [
      (words) => encodeBytes(bytesOf(fromHex(words.slice(2)))),
      (code) => `0x${hexOf(decodeBytes(code, 0).value, '')}`,
    ],
    int64: [(words) => encodeInt64(BigInt(words)), (code) => decodeInt64(code, 0).toString()],
    double: [
      (words) => encodeDouble(Number(words)),
      (code) => (Object.is(decodeDouble(code, 0), -0) ? '-0' : String(decodeDouble(code, 0))),
    ],
    version: [(words) => encodeUint64(BigInt(words)), (code) => decodeUint64(code, 0).toString()],
    partition: [
      (words) => partitionCode(named([p, dn], partitionWords, words)),
      (code) => partitionWords(decodePartition(code, 0).value),
    ],
    path: [(words) => pathCode(named(paths, prettyPath, words)), (code) => prettyPath(decodePath(code, 0).path)],
    value: [
      (words) => valueCode(named(values, prettyValue, words)),
      (code, words) => prettyValue(decodeValueCode(code, 0, typeBytes[named(values, prettyValue, words).type]).value),
    ],
  }

  const examples = tableOf('code', 'example', 'hex')

  test('the page has an example of every code', () => {
    expect(new Set(examples.map(([code]) => code))).toEqual(new Set(Object.keys(codecs)))
    expect(examples.filter(([code]) => code === 'value')).toHaveLength(values.length)
  })

  test.each(examples)('%s %s is %s', (code, words, hex) => {
    const [encode, decode] = codecs[code ?? ''] ?? []
    expect(hexOf(encode?.(words ?? '') ?? '')).toBe(hex)
    expect(decode?.(fromHex(hex ?? ''), words ?? '')).toBe(words)
  })
})

describe('bytes', () => {
  const byteOf = (byte: number): string => byte.toString(16).padStart(2, '0')

  test('the key spaces of the page are those of the code', () => {
    const listed = tableOf('byte', 'key space').map(([byte, space]) => [space, fromHex(byte ?? '')])
    expect(Object.fromEntries(listed)).toEqual(keySpaces)
  })

  test('the classes of values are those of the code, in the order of their bytes', () => {
    const listed = tableOf('byte', 'class').map(([byte]) => byte)
    expect(listed).toEqual(Object.values(valueClasses).map(({ byte }) => byteOf(byte)))
    expect([...listed].sort()).toEqual(listed)
  })

  test('the types are those of the code', () => {
    const listed = tableOf('byte', 'type').map(([byte, type]) => [type, byte])
    expect(Object.fromEntries(listed)).toEqual(
      Object.fromEntries(Object.entries(typeBytes).map(([type, byte]) => [type, byteOf(byte)])),
    )
  })
})

describe('rows', () => {
  const image: EntityImage = { version: 7n, createTime: 5n, updateTime: 7n, properties: Uint8Array.of(0x1a, 0) }
  const entry = (property: string, value: IndexableValue, multi = false): IndexEntry => ({
    property,
    valueCode: valueCode(value),
    type: typeBytes[value.type],
    multi,
  })
  const owner = entry('owner', { type: 'string', value: 'ada' })
  const rank = entry('rank', { type: 'integer', value: 5n })
  const manyRanks = { ...rank, multi: true }
  const ascending = 'ascending' as const
  const descending = 'descending' as const
  const indexes: readonly CompositeIndex[] = [
    {
      id: 7n,
      kind: 'ToDo',
      ancestor: false,
      properties: [
        { name: 'owner', direction: ascending },
        { name: 'rank', direction: descending },
      ],
    },
    { id: 8n, kind: 'ToDo', ancestor: true, properties: [{ name: 'rank', direction: ascending }] },
    {
      id: 9n,
      kind: 'ToDo',
      ancestor: false,
      properties: [
        { name: 'rank', direction: ascending },
        { name: '__key__', direction: descending },
      ],
    },
  ]
  const group = partitionCode(p) + pathCode(toDo.path)
  const version = 1_700_000_000_000_001n
  const nothing = new Uint8Array(0)

  /** Every row that the page may show, made by the code that makes it for the store. */
  const rows: readonly { readonly key: string; readonly value?: Uint8Array }[] = [
    { key: entityRowKeyOf(toDo), value: encodeImage(image) },
    { key: entityRowKeyOf({ ...toDo, partition: dn }), value: encodeImage(image) },
    ...rowsOfEntries(keyCodes(toDo), [owner, manyRanks]),
    ...rowsOfEntries(keyCodes({ ...toDo, partition: dn }), []),
    ...rowsOfEntries(keyCodes(toDo), [owner, rank], indexes).slice(5),
    ...rowsOfEntries(keyCodes(adasToDo), [rank], indexes),
    { key: idSequenceRowKey('p', '', ['scattered']), value: encodeCounter(1001n) },
    { key: logRowKey(group, version) },
    { key: pendingRowKey(group, version), value: nothing },
    { key: topicRowKey(wholeStore, 'commitVersion') },
    { key: topicRowKey(databaseCode('p', ''), 'compositeIndex', '7') },
  ]

  const examples = [...page.matchAll(/```rows\n([^`]*)```/g)].flatMap(([, block = '']) =>
    [...block.matchAll(/^(\S[^→\n]*?)(?: →(.*))?\n((?: {2}.*\n)+)/gm)].map(
      ([, words = '', value, hex = '']) => [words, hex, value] as const,
    ),
  )

  test('the page has an example of every key space', () => {
    expect(new Set(examples.map(([words]) => words.replace(/\(.*/, '')))).toEqual(new Set(Object.keys(keySpaces)))
  })

  test.each(examples)('%s', (words, hex, value) => {
    const rowKey = fromHex(hex)
    const cell = value === undefined ? undefined : bytesOf(fromHex(value))
    expect(prettyRowKey(rowKey, cell)).toBe(words)
    const row = rows.find((one) => one.key === rowKey)
    expect(row, 'no row of the code has these bytes').toBeDefined()
    expect(row?.value && hexOf(row.value)).toEqual(cell && hexOf(cell))
  })
})
