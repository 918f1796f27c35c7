import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressOf, readAddress } from './route.ts'

test('route/A1: an address gives page, parts and query back', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 })
  fc.assert(
    fc.property(text, fc.array(text), fc.dictionary(text, fc.string({ unit: 'binary' })), (page, parts, query) => {
      const route = readAddress(addressOf(page, parts, query))
      expect(route.page).toBe(page)
      expect(route.parts).toEqual(parts)
      expect(Object.fromEntries(route.query)).toEqual({ ...query })
    }),
  )
})

test('a foreign address gives what can be read of it', () => {
  expect(readAddress('')).toMatchObject({ page: '', parts: [] })
  expect(readAddress('#data')).toMatchObject({ page: 'data', parts: [] })
  expect(readAddress('#/data/%E0%A4%A')).toMatchObject({ page: 'data', parts: ['%E0%A4%A'] })
})

test('members without a value are left out', () => {
  expect(addressOf('data', ['demo'], { database: undefined, gql: 'a b' })).toBe('#/data/demo?gql=a+b')
})
