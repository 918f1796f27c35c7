import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PartitionId } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { topicRowKey, wholeStore } from '../tables/metadata-rows.ts'
import { invert } from './bytes.ts'
import { databaseCode, partitionCode, pathCode } from './key-codec.ts'
import { keySpaces } from './keyspace.ts'
import { encodeInt64, encodeText, encodeUint64 } from './ordered.ts'
import { prettyRowKey, prettyValue } from './pretty.ts'
import { indexRowValue, valueCode } from './value-codec.ts'
import { typeBytes } from './value-types.ts'

const partition: PartitionId = { projectId: 'p', databaseId: '', namespaceId: '' }
const p = partitionCode(partition)
const toDo = pathCode([{ kind: 'ToDo', id: 1n }])
const adasToDo = pathCode([
  { kind: 'User', name: 'ada' },
  { kind: 'ToDo', id: 1n },
])
const ada = pathCode([{ kind: 'User', name: 'ada' }])
const string = (value: string): string => valueCode({ type: 'string', value })
const integer = (value: bigint): string => valueCode({ type: 'integer', value })

describe('rows', () => {
  const index7 = `${keySpaces.EntitiesByCompositeProperty}${encodeText('p')}${encodeText('')}${encodeInt64(7n)}`
  const owner = `${encodeText('ToDo')}${encodeText('owner')}`
  test.each([
    ['Entities(p, ToDo:1)', `E${p}${toDo}`],
    [
      'Entities(p, db=d, ns=n, ToDo:1)',
      `E${partitionCode({ projectId: 'p', databaseId: 'd', namespaceId: 'n' })}${toDo}`,
    ],
    ['EntitiesByKind(p, ToDo, User:"ada"/ToDo:1)', `K${p}${encodeText('ToDo')}${adasToDo}`],
    ['EntitiesByPropertyAsc(p, ToDo, owner="ada", ToDo:1)', `A${p}${owner}${string('ada')}${toDo}`],
    ['EntitiesByPropertyDesc(p, ToDo, owner="ada", ToDo:1)', `D${p}${owner}${invert(string('ada'))}${toDo}`],
    [
      'EntitiesByCompositeProperty(p, index 7, ToDo, ancestor User:"ada", "x", desc 5, User:"ada"/ToDo:1)',
      `${index7}${encodeText('')}${encodeText('ToDo')}${ada}${string('x')}${invert(integer(5n))}${adasToDo}`,
    ],
    [
      'EntitiesByCompositeProperty(p, ns=n, index 7, ToDo, 5, desc ToDo:1)',
      `${index7}${encodeText('n')}${encodeText('ToDo')}${integer(5n)}${invert(toDo)}`,
    ],
    [
      'EntitiesByCompositeProperty(p, index 7, ToDo, ancestor User:"ada", User:"ada"/ToDo:1)',
      `${index7}${encodeText('')}${encodeText('ToDo')}${ada}${adasToDo}`,
    ],
    ['IdSequences(p, "ToDo", "")', `I${encodeText('p')}${encodeText('')}${encodeText('ToDo')}${encodeText('')}`],
    ['Log(p, ToDo:1, 1700000000000001)', `L${p}${toDo}${encodeUint64(1700000000000001n)}`],
    ['Pending(p, ToDo:1, 3)', `P${p}${toDo}${encodeUint64(3n)}`],
    ['Metadata(commitVersion)', topicRowKey(wholeStore, 'commitVersion')],
    ['Metadata(p, db=d, index, "7")', topicRowKey(databaseCode('p', 'd'), 'index', '7')],
    ['Entities(p, "a b":"x\\"y")', `E${p}${pathCode([{ kind: 'a b', name: 'x"y' }])}`],
  ])('row %$ reads %j', (words, rowKey) => {
    expect(prettyRowKey(rowKey)).toBe(words)
  })

  test('the row value tells a timestamp from an integer, and bytes from text', () => {
    const when = `A${p}${owner}${integer(1_700_000_000_000_001n)}${toDo}`
    expect(prettyRowKey(when)).toContain('owner=1700000000000001,')
    expect(prettyRowKey(when, indexRowValue(typeBytes.timestamp, true))).toContain('owner=2023-11-14T22:13:20.000001Z,')
    const bytes = `D${p}${owner}${invert(string('a'))}${toDo}`
    expect(prettyRowKey(bytes, indexRowValue(typeBytes.blob, false))).toContain('owner=0x61,')
    const wild = `A${p}${owner}${valueCode({ type: 'blob', value: Uint8Array.of(0xff, 0) })}${toDo}`
    expect(prettyRowKey(wild)).toContain('owner=0xff00,')
  })

  test('each column of a composite row reads by its own type byte', () => {
    const row = `${index7}${encodeText('')}${encodeText('ToDo')}${integer(0n)}${invert(integer(0n))}${toDo}`
    const value = Uint8Array.of(typeBytes.integer, typeBytes.timestamp)
    expect(prettyRowKey(row, value)).toContain('ToDo, 0, desc 1970-01-01T00:00:00.000000Z, ToDo:1')
  })

  test('whatever bytes a row key has, it is shown, in hex with the reason when it cannot be read', () => {
    expect(prettyRowKey('')).toBe('unreadable row (empty) (no key space)')
    expect(prettyRowKey('Z\x00')).toBe('unreadable row 5a 00 (no key space)')
    expect(prettyRowKey(`E${p}${toDo}x`)).toMatch(/^unreadable row 45 70 .* 78 \(bytes left after byte \d+\)$/)
    expect(prettyRowKey(`E${p}\x01\xff\x00\x01\x02`)).toMatch(/^unreadable row 45 .* \(.*UTF-8\)$/)
    const whole = [`A${p}${owner}${string('ada')}${toDo}`, `L${p}${toDo}${encodeUint64(3n)}`, `E${p}${adasToDo}`]
    fc.assert(
      fc.property(fc.constantFrom(...whole), fc.nat(60), fc.nat(255), (rowKey, at, byte) => {
        const cut = rowKey.slice(0, at % rowKey.length)
        expect(prettyRowKey(cut)).toMatch(/^unreadable row /)
        expect(prettyRowKey(cut + String.fromCharCode(byte) + rowKey.slice(cut.length + 1))).toMatch(
          /^(unreadable|\w+\()/,
        )
      }),
      { numRuns: 300 },
    )
    fc.assert(
      fc.property(fc.constantFrom(...'ACDEIKLMP'), fc.uint8Array({ maxLength: 12 }), (space, bytes) => {
        expect(prettyRowKey(space + String.fromCharCode(...bytes))).not.toBe('')
      }),
    )
  })
})

describe('values', () => {
  const entity = new Map<string, Value>([
    ['a', { type: 'array', values: [{ type: 'null' }, { type: 'boolean', value: true }] }],
  ])
  test.each<[string, Value]>([
    ['-5', { type: 'integer', value: -5n }],
    ['5.0', { type: 'double', value: 5 }],
    ['-0.0', { type: 'double', value: -0 }],
    ['1e+300', { type: 'double', value: 1e300 }],
    ['NaN', { type: 'double', value: Number.NaN }],
    ['1969-12-31T23:59:59.999999Z', { type: 'timestamp', micros: -1n }],
    ['timestamp(4611686018427387904)', { type: 'timestamp', micros: 2n ** 62n }],
    ['0x00ff', { type: 'blob', value: Uint8Array.of(0, 255) }],
    ['geo(1.0, -2.5)', { type: 'geoPoint', latitude: 1, longitude: -2.5 }],
    ['key(p, ToDo:?)', { type: 'key', key: { partition, path: [{ kind: 'ToDo' }] } }],
    ['{a: [null, true]}', { type: 'entity', properties: entity }],
    [
      'user(email: "a@b")',
      {
        type: 'entity',
        meaning: 20,
        properties: new Map<string, Value>([['email', { type: 'string', value: 'a@b' }]]),
      },
    ],
  ])('value %$ reads %s', (words, value) => {
    expect(prettyValue(value)).toBe(words)
  })
})
