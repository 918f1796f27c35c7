import fc from 'fast-check'
import { expect, test } from 'vitest'
import { databaseCode } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { RowReader } from '../encoding/row-reader.ts'
import { decodeCounter, encodeCounter, idSequenceRowKey } from './id-sequences.ts'
import { prefixRange } from './rows.ts'

/** Names that begin like others, and with the bytes that codes escape. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', '\x00', '\x01', '\u00ff', 'é'), maxLength: 4 })
const name = fc.record({ projectId: text, databaseId: text, scope: fc.array(text, { maxLength: 3 }) })

test('the range of a database has its counters and no others', () => {
  fc.assert(
    fc.property(name, text, text, ({ projectId, databaseId, scope }, otherProject, otherDatabase) => {
      const row = idSequenceRowKey(projectId, databaseId, scope)
      const isSame = otherProject === projectId && otherDatabase === databaseId
      const { start, end } = prefixRange(keySpaces.IdSequences + databaseCode(otherProject, otherDatabase))
      expect(start <= row && row < end).toBe(isSame)
    }),
  )
})

test('a row key says which counter it is', () => {
  fc.assert(
    fc.property(name, (one) => {
      const row = new RowReader(idSequenceRowKey(one.projectId, one.databaseId, one.scope))
      expect({ ...row.database(), scope: row.texts() }).toEqual(one)
    }),
  )
})

test('a counter has eight bytes, and any number of them comes back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (next) => {
      expect(encodeCounter(next)).toHaveLength(8)
      expect(decodeCounter(encodeCounter(next))).toBe(next)
    }),
  )
  expect(() => decodeCounter(new Uint8Array(7))).toThrow('has 8 bytes')
})
