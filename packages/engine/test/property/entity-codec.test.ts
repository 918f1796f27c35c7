/** decoding gives back what was encoded, and splitting an entity keeps key and properties. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import {
  decodeKey,
  decodeProperties,
  decodeValue,
  encodeKey,
  encodeProperties,
  encodeValue,
  noDefaults,
  splitEntity,
} from '../../src/encoding/entity-codec.ts'
import type { Value } from '../../src/model/value.ts'
import { anyKeys, keys, propertyMaps, timestampMicros, values } from '../support/arbitraries.ts'
import { field, joined, message, property, timestamp } from './entity-messages.ts'

const meanings = fc.constantFrom(-1, 1, 15, 20, 2 ** 31 - 1, -(2 ** 31))

/** Values with any annotations, arrays in arrays and entities with keys: a codec has no rules. */
const annotated: fc.Arbitrary<Value> = fc
  .tuple(
    values,
    fc.option(meanings, { nil: undefined }),
    fc.boolean(),
    fc.option(keys, { nil: undefined }),
    fc.boolean(),
  )
  .map(([value, meaning, excluded, key, wrapped]) => {
    const plain: Value = value.type === 'entity' && key !== undefined ? { ...value, key } : value
    const full: Value = {
      ...plain,
      ...(meaning === undefined ? {} : { meaning }),
      ...(excluded ? { excludeFromIndexes: true } : {}),
    }
    return wrapped ? { type: 'array', values: [full, { type: 'array', values: [full] }] } : full
  })

describe('the entity codec', () => {
  it('gives values back', () => {
    fc.assert(
      fc.property(annotated, (value) => {
        expect(decodeValue(encodeValue(value), noDefaults)).toEqual(value)
      }),
      { numRuns: runs(500) },
    )
  })

  it('gives keys back, whatever their texts and ids', () => {
    fc.assert(
      fc.property(anyKeys, (key) => {
        expect(decodeKey(encodeKey(key), noDefaults)).toEqual(key)
      }),
      { numRuns: runs(200) },
    )
  })

  it('gives properties back, in order', () => {
    fc.assert(
      fc.property(propertyMaps, (properties) => {
        const decoded = decodeProperties(encodeProperties(properties))
        expect([...decoded]).toEqual([...properties])
      }),
      { numRuns: runs(200) },
    )
  })

  it('splits an entity wherever its fields stand, and loses nothing', () => {
    const unknown = fc.constantFrom(Uint8Array.of(0x28, 7), Uint8Array.of(0x33, 0x28, 1, 0x34), field(9, 'junk'))
    fc.assert(
      fc.property(
        keys,
        propertyMaps,
        fc.array(fc.tuple(fc.nat(12), unknown)),
        fc.nat(6),
        (key, properties, junk, at) => {
          const fields = [...properties].map(([name, value]) => property(name, value))
          const parts: Uint8Array[] = [...fields]
          parts.splice(at, 0, field(1, encodeKey(key)))
          for (const [position, bytes] of junk) parts.splice(position, 0, bytes)
          const split = splitEntity(joined(...parts), noDefaults)
          expect(split.key).toEqual(key)
          expect(Buffer.from(split.properties)).toEqual(Buffer.from(joined(...fields)))
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('floors every timestamp to the microsecond at or before it', () => {
    fc.assert(
      fc.property(timestampMicros, fc.nat(999), (micros, nanosMore) => {
        const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
        const bytes = timestamp((micros - fraction) / 1_000_000n, Number(fraction) * 1000 + nanosMore)
        expect(decodeValue(bytes, noDefaults)).toEqual({ type: 'timestamp', micros })
      }),
    )
  })

  it('takes any cut of a message into two for the whole', () => {
    fc.assert(
      fc.property(propertyMaps, fc.nat(5), (properties, cut) => {
        const fields = [...properties].map(([name, value]) => property(name, value))
        const inTwo = message((writer) => {
          writer.bytes(6, joined(...fields.slice(0, cut)))
          writer.bytes(6, joined(...fields.slice(cut)))
        })
        expect(decodeValue(inTwo, noDefaults)).toEqual({ type: 'entity', properties })
      }),
      { numRuns: runs(100) },
    )
  })
})
