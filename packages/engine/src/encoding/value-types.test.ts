import { expect, test } from 'vitest'
import { firstTypeOf, typeBytes, valueClasses, valueField, valueTypes } from './value-types.ts'

const distinct = (numbers: readonly number[]): boolean => new Set(numbers).size === numbers.length

test('fields of Value, type bytes and class bytes are each used once', () => {
  expect(distinct(Object.values(valueField))).toBe(true)
  expect(distinct(Object.values(typeBytes))).toBe(true)
  expect(distinct(Object.values(valueClasses).map(({ byte }) => byte))).toBe(true)
  expect(Math.max(...Object.values(typeBytes))).toBeLessThan(0x80)
})

test('each class belongs to a type, and each indexed type has a class', () => {
  for (const name of Object.keys(valueClasses)) expect(firstTypeOf, name).toHaveProperty(name, expect.any(String))
  for (const [type, { typeByte, classes }] of Object.entries(valueTypes)) {
    expect(classes.length > 0, type).toBe(typeByte !== undefined)
  }
})
