/**
 * The laws of exported entities:
 *
 *   decoded(encoded(e)) = e.
 *   Whatever the bytes, decoding gives an entity or throws INVALID_ARGUMENT.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { decodePropertiesInSteps, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { DatastoreError } from '../../src/errors.ts'
import type { Value } from '../../src/model/value.ts'
import { runAtOnce } from '../../src/slices.ts'
import { type DecodedEntity, decodeEntityProto, encodeEntityProto } from '../../src/transfer/entity-proto-v3.ts'
import { keys, propertyMaps, values } from '../support/arbitraries.ts'
import { excluded, integer, keyOf, string } from './entity-messages.ts'

const key = keyOf([{ kind: 'K', id: 1n }])

const encoded = (...[ofKey, properties]: Parameters<typeof encodeEntityProto>): Uint8Array =>
  runAtOnce(encodeEntityProto(ofKey, properties))
const decoded = (record: Uint8Array): DecodedEntity => runAtOnce(decodeEntityProto(record))

/** Meanings as clients may set them, fitting or not. */
const annotated: fc.Arbitrary<Value> = fc
  .tuple(values, fc.constantFrom(0, 1, 2, 8, 10, 11, 12, 15, 16, 17, 20, 22), fc.boolean())
  .map(([value, meaning, isExcluded]) => ({
    ...value,
    ...(meaning === 0 || value.type === 'array' ? {} : { meaning }),
    ...(isExcluded && value.type !== 'array' ? { excludeFromIndexes: true } : {}),
  }))

describe('an entity is read back as it was written', () => {
  test('with any key and properties', () => {
    fc.assert(
      fc.property(keys, propertyMaps, (someKey, properties) => {
        expect(decoded(encoded(someKey, properties))).toEqual({ key: someKey, properties })
        expect(runAtOnce(decodePropertiesInSteps(encodeProperties(properties)))).toEqual(properties)
      }),
      { numRuns: runs(300) },
    )
  })

  test('with any meanings and flags, at any depth', () => {
    fc.assert(
      fc.property(fc.array(annotated, { maxLength: 4 }), annotated, (elements, value) => {
        const properties = new Map<string, Value>([
          ['one', value],
          ['array', { type: 'array', values: elements.filter(({ type }) => type !== 'array') }],
          ['entity', { type: 'entity', properties: new Map([['inner', value]]) }],
        ])
        expect(decoded(encoded(key, properties)).properties).toEqual(properties)
      }),
      { numRuns: runs(300) },
    )
  })

  test('with an array that mixes indexed and excluded elements, in their order', () => {
    const mixed: Value = {
      type: 'array',
      values: [integer(1), excluded(integer(2)), integer(3), excluded(string('x'))],
    }
    const properties = new Map([['a', mixed]])
    expect(decoded(encoded(key, properties)).properties).toEqual(properties)
  })
})

test('an array whose elements would repeat a long name for megabytes is there in its exact form alone', () => {
  const values = Array.from({ length: 12_000 }, (_, i) => excluded(integer(i)))
  const long = new Map<string, Value>([['n'.repeat(1500), { type: 'array', values }]])
  for (const properties of [long, new Map<string, Value>([['e', { type: 'entity', properties: long }]])]) {
    const record = encoded(key, properties)
    expect(record.length).toBeLessThan(1024 * 1024)
    expect(decoded(record).properties).toEqual(properties)
  }
})

test('any bytes are an entity or are refused', () => {
  const refusedOrRead = (bytes: Uint8Array): void => {
    try {
      decoded(bytes)
    } catch (error) {
      expect(error).toBeInstanceOf(DatastoreError)
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), refusedOrRead), { numRuns: runs(500) })
  fc.assert(
    fc.property(keys, propertyMaps, fc.nat(), fc.nat(255), fc.nat(), (someKey, properties, at, byte, cut) => {
      const bytes = Buffer.from(encoded(someKey, properties))
      refusedOrRead(bytes.subarray(0, cut % bytes.length))
      bytes[at % bytes.length] = byte
      refusedOrRead(bytes)
    }),
    { numRuns: runs(500) },
  )
})
