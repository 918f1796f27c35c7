import { expect, test } from 'vitest'
import { rowsAsCsv, rowsAsJson } from './copied-rows.ts'

const row = (id: string, properties: object) =>
  ({ entity: { key: { path: [{ kind: 'T', id }] }, properties } }) as never

test('rows are JSON of the API, and CSV of the columns', () => {
  const rows = [
    row('1', { a: { stringValue: 'x, "y"' }, n: { integerValue: '-5' } }),
    row('2', { a: { nullValue: null } }),
  ]
  expect(JSON.parse(rowsAsJson(rows))[0]).toEqual({
    key: { path: [{ kind: 'T', id: '1' }] },
    properties: { a: { stringValue: 'x, "y"' }, n: { integerValue: '-5' } },
  })
  expect(rowsAsCsv(rows, ['a', 'n'])).toBe('key,a,n\r\nT:1,"x, ""y""",-5\r\nT:2,null,\r\n')
})

test('negative zero stays another double than zero', () => {
  const rows = [row('1', { a: { doubleValue: -0 } })]
  expect(JSON.parse(rowsAsJson(rows))[0].properties).toEqual({ a: { doubleValue: -0 } })
  expect(rowsAsCsv(rows, ['a'])).toBe('key,a\r\nT:1,-0.0\r\n')
})

test('a property named like one of every object is absent where the entity does not have it', () => {
  const rows = [row('1', { constructor: { stringValue: 'x' } }), row('2', { a: { stringValue: 'y' } })]
  expect(rowsAsCsv(rows, ['constructor', 'a'])).toBe('key,constructor,a\r\nT:1,x,\r\nT:2,,y\r\n')
})

test('no cell is a formula', () => {
  for (const text of ['=1+1', '+1', '@a', '-x', '-2+3', "-2+3+cmd|'/C calc'!b", '\t=1']) {
    expect(rowsAsCsv([row('1', { a: { stringValue: text } })], ['a'])).toContain(`,'${text}`)
  }
  const place = { geoPointValue: { latitude: -33.8, longitude: -1e-7 } }
  const numbers = rowsAsCsv([row('1', { a: { doubleValue: -1.5e-9 }, b: place })], ['a', 'b'])
  expect(numbers).toBe('key,a,b\r\nT:1,-1.5e-9,"-33.8, -1e-7"\r\n')
})
