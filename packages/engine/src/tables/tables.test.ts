/** The edges of the table files: images, counters, ranges, and rows of other tables. */
import { describe, expect, test } from 'vitest'
import { fromHex } from '../encoding/bytes.ts'
import { databaseCode, keyCodes } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { RowReader } from '../encoding/row-reader.ts'
import { InvariantError } from '../invariant.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Key } from '../model/key.ts'
import { rowsOfEntries } from '../testing/row-list.ts'
import {
  decodeImage,
  encodeImage,
  entityRowKeyOf,
  parseEntityRowKey,
  propertiesOfImage,
  StoredImage,
} from './entities.ts'
import { parseEntitiesByKindRowKey } from './entities-by-kind.ts'
import { parsePropertyRowKey } from './entities-by-property.ts'
import { decodeCounter, encodeCounter, idSequenceRowKey } from './id-sequences.ts'
import { prefixRange } from './rows.ts'

const key: Key = {
  partition: { projectId: 'p', databaseId: '', namespaceId: '' },
  path: [{ kind: 'ToDo', id: 1n }],
}

describe('entity images', () => {
  const image: EntityImage = {
    version: 0x0102_0304_0506_0708n,
    createTime: -1n,
    updateTime: 2n,
    properties: Uint8Array.of(0x1a, 0x00),
  }

  test('an image is 24 bytes of version and times, then the properties', () => {
    const bytes = fromHex('01 02 03 04 05 06 07 08  ff ff ff ff ff ff ff ff  00 00 00 00 00 00 00 02  1a 00')
    expect(Buffer.from(encodeImage(image)).toString('latin1')).toBe(bytes)
  })

  test('an image is decoded as it was, its properties a view', () => {
    const bytes = encodeImage(image)
    const decoded = decodeImage(bytes)
    expect({ ...decoded, properties: [...decoded.properties] }).toEqual({ ...image, properties: [0x1a, 0] })
    expect(decoded.properties.buffer).toBe(bytes.buffer)
    expect([...propertiesOfImage(bytes)]).toEqual([0x1a, 0])
  })

  test('a stored image says what the decoded one does, its numbers too', () => {
    for (const version of [0n, 255n, 1_795_252_843_125_000n, 2n ** 53n - 1n]) {
      const bytes = encodeImage({ ...image, version, updateTime: -version })
      const stored = new StoredImage(bytes)
      const { createTime, updateTime, properties } = stored
      expect({ version: stored.version, createTime, updateTime, properties }).toEqual(decodeImage(bytes))
      expect([stored.numberOf('version'), stored.numberOf('createTime'), stored.numberOf('updateTime')]).toEqual([
        Number(version),
        -1,
        Number(-version),
      ])
      expect(stored.propertiesBytes).toBe(2)
      expect(bytes.subarray(StoredImage.propertiesAt)).toEqual(properties)
    }
    expect(() => new StoredImage(new Uint8Array(23))).toThrow(InvariantError)
  })

  test('an entity without properties has an image of 24 bytes, and fewer are refused', () => {
    const bytes = encodeImage({ ...image, properties: new Uint8Array(0) })
    expect(bytes).toHaveLength(24)
    expect(decodeImage(bytes).properties).toHaveLength(0)
    expect(() => decodeImage(bytes.subarray(1))).toThrow(InvariantError)
  })
})

describe('id sequences', () => {
  test('the counters of a database are one range', () => {
    const { start, end } = prefixRange(keySpaces.IdSequences + databaseCode('p', 'd'))
    const inRange = (rowKey: string): boolean => start <= rowKey && rowKey < end
    expect(inRange(idSequenceRowKey('p', 'd', []))).toBe(true)
    expect(inRange(idSequenceRowKey('p', 'd', ['\u{10ffff}', '']))).toBe(true)
    expect(inRange(idSequenceRowKey('p', 'dd', ['a']))).toBe(false)
    expect(inRange(idSequenceRowKey('p', '', ['d']))).toBe(false)
  })

  test('a counter’s row key parses to its name, and different scopes have different rows', () => {
    const scopes = [[], [''], ['a'], ['a', 'b'], ['ab'], ['a\u0000', 'b']]
    const rowKeys = scopes.map((scope) => idSequenceRowKey('p', 'd', scope))
    expect(new Set(rowKeys).size).toBe(scopes.length)
    for (const [i, scope] of scopes.entries()) {
      const row = new RowReader(rowKeys[i] ?? '')
      expect({ ...row.database(), scope: row.texts() }).toEqual({ projectId: 'p', databaseId: 'd', scope })
    }
  })

  test('a counter is eight bytes, also up to 2^64 - 1', () => {
    for (const next of [0n, 1n, 2n ** 52n, 2n ** 64n - 1n]) expect(decodeCounter(encodeCounter(next))).toBe(next)
    expect([...encodeCounter(258n)]).toEqual([0, 0, 0, 0, 0, 0, 1, 2])
    expect(() => decodeCounter(new Uint8Array(7))).toThrow(InvariantError)
  })
})

test('a table does not take rows of another, nor rows with bytes missing or left over', () => {
  const entry = { property: 'v', valueCode: '\x10', type: 0, multi: false }
  const rowKeys = [entityRowKeyOf(key), ...rowsOfEntries(keyCodes(key), [entry]).map((row) => row.key)]
  const parsers = [parseEntityRowKey, parseEntitiesByKindRowKey, parsePropertyRowKey, parsePropertyRowKey]
  for (const [i, parse] of parsers.entries()) {
    for (const [j, rowKey] of rowKeys.entries()) {
      if (parse === parsers[j]) expect(parse(rowKey)).toBeDefined()
      else expect(() => parse(rowKey)).toThrow(InvariantError)
    }
    expect(() => parse(`${rowKeys[i]}\x00`)).toThrow(InvariantError)
    expect(() => parse(rowKeys[i]?.slice(0, -1) ?? '')).toThrow(InvariantError)
  }
})

test('a row whose kind is not that of its path is refused', () => {
  const rows = rowsOfEntries({ ...keyCodes(key), kind: 'Other\x00\x01' }, [])
  expect(() => parseEntitiesByKindRowKey(rows[0]?.key ?? '')).toThrow(/kind of the row/)
})
