import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { encodeProperties } from '../../src/encoding/entity-codec.ts'
import { sameProperties } from '../../src/encoding/same-properties.ts'
import type { Properties, Value } from '../../src/model/value.ts'
import { propertyMaps } from '../support/arbitraries.ts'
import { comparable } from '../support/plain-values.ts'

/** The same map, its properties the other way round on every level; the elements of arrays stay where they are. */
function turned(properties: Properties): Map<string, Value> {
  return new Map([...properties].reverse().map(([name, value]) => [name, turnedValue(value)]))
}

function turnedValue(value: Value): Value {
  if (value.type === 'entity') return { ...value, properties: turned(value.properties) }
  if (value.type === 'array') return { ...value, values: value.values.map(turnedValue) }
  return value
}

/** The same map but for two values that have changed places: the same bytes in another order, mostly. */
function swapped(properties: Properties): Map<string, Value> {
  const entries = [...properties]
  const values = entries.map(([, value]) => value)
  return new Map(entries.map(([name], i) => [name, values[(i + 1) % values.length] as Value]))
}

test('properties are the same in any order', () => {
  fc.assert(
    fc.property(propertyMaps, (properties) => {
      expect(sameProperties(encodeProperties(properties), encodeProperties(turned(properties)))).toBe(true)
    }),
    { numRuns: runs(200) },
  )
})

test('and only if they are equal', () => {
  fc.assert(
    fc.property(propertyMaps, propertyMaps, (a, b) => {
      for (const other of [b, swapped(a), turned(swapped(a))]) {
        const equal = isDeepStrictEqual(comparable(a), comparable(other))
        expect(sameProperties(encodeProperties(a), encodeProperties(other))).toBe(equal)
      }
    }),
    { numRuns: runs(300) },
  )
})

test('the order of an array is not that of a map', () => {
  const list = (...values: bigint[]): Uint8Array =>
    encodeProperties(new Map([['l', { type: 'array', values: values.map((value) => ({ type: 'integer', value })) }]]))
  expect(sameProperties(list(1n, 2n), list(2n, 1n))).toBe(false)
})
