import { expect, test } from 'vitest'
import { shortRow, valueText } from './row-text.ts'

test.each([
  ['Entities(demo, ToDo:1)', {}, 'demo, ToDo:1'],
  ['Entities(demo, ToDo:1)', { project: 'demo' }, 'ToDo:1'],
  [
    'EntitiesByKind(demo, db=d, ns=n, ToDo, ToDo:"a(b)")',
    { project: 'demo', database: 'd', namespace: 'n' },
    'ToDo, ToDo:"a(b)"',
  ],
  ['Entities(demo, db=d, ToDo:1)', { project: 'demo', namespace: 'n' }, 'db=d, ToDo:1'],
])('%s is short', (row, place, short) => {
  expect(shortRow(row, place)).toBe(short)
})

test('the properties of an entity come before its version', () => {
  expect(valueText('version 17, {n: 1, version 2}')).toBe('{n: 1, version 2}, version 17')
  expect(valueText('boolean')).toBe('boolean')
})
