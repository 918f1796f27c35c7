/** The order of value codes, and that they give their values back. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { invert } from '../../src/encoding/bytes.ts'
import { encodeText } from '../../src/encoding/ordered.ts'
import {
  decodeValueCode,
  indexRowValue,
  isMulti,
  likelyType,
  skipValue,
  typeOf,
  valueCode,
} from '../../src/encoding/value-codec.ts'
import { typeBytes } from '../../src/encoding/value-types.ts'
import { type IndexableValue, userSortFields } from '../../src/model/value.ts'
import { anyTexts, fewValues, indexableValues } from '../support/arbitraries.ts'
import { compareValues } from './model-order.ts'
import { holdsFor } from './order-laws.ts'

/** What an index keeps of a value: of a user, the fields that are not empty. */
function kept(value: IndexableValue): unknown {
  return value.type === 'entity' ? { type: 'entity', fields: userSortFields(value) } : value
}

describe('value codes', () => {
  test('codes of values obey the laws of order, prefix-freeness and inversion, over all types', () => {
    holdsFor({ values: indexableValues, encode: valueCode, compare: compareValues, numRuns: runs(1000) })
    holdsFor({ values: fewValues, encode: valueCode, compare: compareValues })
  })

  test('code and row value together give the value back', () => {
    fc.assert(
      fc.property(anyTexts, indexableValues, fc.boolean(), (before, value, multi) => {
        const start = encodeText(before)
        const rowValue = indexRowValue(typeBytes[value.type], multi)
        expect(rowValue).toHaveLength(1)
        const typeByte = rowValue[0] ?? -1
        expect([isMulti(typeByte), typeOf(typeByte)]).toEqual([multi, typeBytes[value.type]])
        const code = valueCode(value)
        const decoded = decodeValueCode(start + code + start, start.length, typeByte)
        expect(kept(decoded.value)).toEqual(kept(value))
        expect(decoded.next).toBe(start.length + code.length)
      }),
      { numRuns: runs(500) },
    )
  })

  test('a value is skipped from among other codes, inverted or not', () => {
    fc.assert(
      fc.property(anyTexts, indexableValues, indexableValues, (before, value, after) => {
        const start = encodeText(before)
        const code = start + valueCode(value) + valueCode(after)
        const next = start.length + valueCode(value).length
        expect(skipValue(code, start.length)).toBe(next)
        expect(skipValue(invert(code), start.length, true)).toBe(next)
      }),
      { numRuns: runs(500) },
    )
  })

  test('without a row value a code decodes to a value of equal order', () => {
    fc.assert(
      fc.property(indexableValues, (value) => {
        const code = valueCode(value)
        expect(compareValues(decodeValueCode(code, 0, likelyType(code, 0)).value, value)).toBe(0)
      }),
    )
  })
})
