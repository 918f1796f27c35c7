import { describe, expect, it } from 'vitest'
import { byteString } from '../encoding/bytes.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { nullCode, typeBytes, valueCode } from '../encoding/value-codec.ts'
import type { RowKey } from '../storage/kv.ts'
import { countOfFresh, type FreshEntity, FreshRows, freshRowAt } from './fresh-rows.ts'
import { indexRowsOf } from './rows.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

function entity(kind: string, name: string, entries: readonly IndexEntry[], scatter?: Uint8Array): FreshEntity {
  return { codes: keyCodes({ partition, path: [{ kind, name }] }), entries, scatter }
}

const text = (property: string, value: string, multi = false): IndexEntry => ({
  property,
  valueCode: valueCode({ type: 'string', value }),
  type: typeBytes.string,
  multi,
})
const entities = [
  entity('ToDo', 'a', [text('owner', 'ada'), text('tag', 'x\x00y', true), text('tag', 'z', true)], Uint8Array.of(7, 0)),
  entity('ToDo', 'b', []),
  entity('ToDo', 'c\x00', [
    text('tag', 'é'),
    { property: 'owner', valueCode: nullCode, type: typeBytes.null, multi: false },
  ]),
  entity('Note', 'long'.repeat(300), [text('owner', 'w'.repeat(1400))]),
  entity('ToDo', 'd', [text('owner', '')]),
]

function rowsOf(wants?: (head: RowKey) => boolean): { key: RowKey; value: Uint8Array }[] {
  const fresh = new FreshRows()
  for (const one of entities) fresh.add(one)
  const rows: { key: RowKey; value: Uint8Array }[] = []
  fresh.each((key, value) => rows.push({ key: byteString(key), value }), wants)
  return rows
}

const expected = entities.flatMap(({ codes, entries, scatter }) => indexRowsOf(codes, entries, [], scatter))

describe('rows of new entities', () => {
  it('fresh-rows/R4: are those that are listed otherwise, in their order', () => {
    expect(rowsOf()).toEqual(expected.map(({ key, value }) => ({ key, value })))
  })

  it('are counted without being made', () => {
    const counts = entities.map(({ codes, entries, scatter }) => indexRowsOf(codes, entries, [], scatter).length)
    expect(entities.map(countOfFresh)).toEqual(counts)
  })

  it('can be had one by one', () => {
    const rows = entities.flatMap((one) => Array.from({ length: countOfFresh(one) }, (_, i) => freshRowAt(one, i)))
    expect(rows).toEqual(expected)
    for (const one of entities) expect(freshRowAt(one, countOfFresh(one))).toBeUndefined()
  })

  it('are made only where the beginning that they share is wanted', () => {
    for (const space of ['A', 'D', 'K']) {
      const heads: RowKey[] = []
      const rows = rowsOf((head) => {
        heads.push(head)
        return head.startsWith(space)
      })
      expect(rows.map(({ key }) => key)).toEqual(expected.map(({ key }) => key).filter((key) => key.startsWith(space)))
      for (const { key } of expected) expect(heads.some((head) => key.startsWith(head))).toBe(true)
    }
    expect(rowsOf(() => false)).toEqual([])
  })
})
