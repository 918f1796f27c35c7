import type { CheckReport } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { checkInWords } from './check.ts'

const orderly: CheckReport = {
  entities: 2,
  indexRows: 6,
  logRecords: 1,
  pending: [],
  problemCount: 0,
  problems: [],
  repaired: 0,
}

const damaged: CheckReport = {
  ...orderly,
  problemCount: 3,
  problems: [
    { kind: 'missing index row', row: '/ByKind/ToDo:1', rowKey: '02', detail: 'the table has no row for it' },
    { kind: 'orphan index row', row: '/ByKind/ToDo:2', rowKey: '03', detail: 'its entity does not exist' },
  ],
}

test('a store in order is said to agree, and what waits is no damage', () => {
  expect(checkInWords({ ...orderly, pending: [{ group: 'ToDo:1', records: 2 }] }, false)).toEqual([
    'Looked at 2 entities, 6 index rows and 1 log record.',
    '2 records of ToDo:1 to be applied: no damage.',
    'All agree.',
  ])
})

test('each problem is a line, and the way to repair is named', () => {
  expect(checkInWords(damaged, false).slice(1)).toEqual([
    'missing index row: /ByKind/ToDo:1: the table has no row for it',
    'orphan index row: /ByKind/ToDo:2: its entity does not exist',
    '… and 1 more.',
    '3 problems; sixtables check --repair puts index rows right.',
  ])
})

test('a repair says how many rows it put right', () => {
  expect(checkInWords({ ...damaged, repaired: 3 }, true).at(-1)).toBe('3 problems, 3 rows put right.')
})

test('what no repair brings back is said', () => {
  const unreadable = { kind: 'unreadable row', row: 'Entities(p, K:1)', rowKey: '45', detail: 'its checksum' } as const
  expect(checkInWords({ ...orderly, problemCount: 1, problems: [unreadable] }, false).slice(1)).toEqual([
    'unreadable row: Entities(p, K:1): its checksum',
    'Rows that cannot be read have to come back from a copy of the folder.',
    '1 problem; sixtables check --repair puts index rows right.',
  ])
  const file = { kind: 'damaged file', row: '000005.ldb', rowKey: '', detail: 'the checksum is wrong' } as const
  expect(checkInWords({ ...orderly, problemCount: 1, problems: [file] }, false).at(-1)).toMatch(
    /next start refuses this one.*can be saved now by sixtables export/,
  )
})
