import type { StaleReport } from '@sixtables/gateway/browser'
import { expect, test } from 'vitest'
import { groupsOf, staleWords, summaryOf } from './staleness.ts'

type StaleResult = StaleReport['results'][number]

const result = (state: StaleResult['state'], committed?: string): StaleResult => ({
  ...{ key: 'A:1', properties: '{n: 1}', state },
  ...(committed === undefined ? {} : { committed }),
})

test.each<[StaleResult, string]>([
  [result('right'), 'as committed'],
  [result('old', '{n: 2}'), 'stale: committed is {n: 2}'],
  [result('gone', '{n: 2}'), 'stale: it no longer matches; committed is {n: 2}'],
  [result('gone', '{n: 1}'), 'stale: it no longer matches; its index rows are those of before'],
  [result('gone'), 'stale: deleted by a commit that waits'],
])('%j is said', (one, words) => {
  expect(staleWords(one)).toBe(words)
})

test('an answer is summed up', () => {
  const report: StaleReport = { results: [result('right')], missing: [], waiting: 0, more: false }
  expect(summaryOf(report)).toEqual({ words: '1 result, as committed', isStale: false })
  expect(summaryOf({ ...report, waiting: 2 }).words).toBe('1 result, as committed; what waits does not touch it')
  const stale = { ...report, results: [result('gone'), result('old', '')], missing: [{ key: 'A:2', properties: '' }] }
  expect(summaryOf({ ...stale, more: true })).toEqual({ words: '2 or more results: 2 stale, 1 missing', isStale: true })
})

test('records are grouped in their order', () => {
  const record = (group: string, namespace: string, version: string) => ({
    ...{
      group,
      namespace,
      version,
      committedAt: '',
      held: false,
      project: 'p',
      database: '',
      row: '',
      rowKey: '',
      changes: [],
    },
    state: 'committed' as const,
  })
  const groups = groupsOf([
    record('A:1', '', '1'),
    record('B:1', '', '2'),
    record('A:1', '', '3'),
    record('A:1', 'n', '4'),
  ])
  expect(
    groups.map(({ group, namespace, records }) => [group, namespace, records.map(({ version }) => version)]),
  ).toEqual([
    ['A:1', '', ['1', '3']],
    ['B:1', '', ['2']],
    ['A:1', 'n', ['4']],
  ])
})
