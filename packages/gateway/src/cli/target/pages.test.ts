import { expect, test } from 'vitest'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import { wholeReport } from './target.ts'

const rows = (from: number, to: number): readonly { readonly row: number }[] =>
  Array.from({ length: to - from }, (_, i) => ({ row: from + i }))

/** A table of `count` rows; an answer has at most three. */
function tableOf(count: number) {
  const asked: Parameters[] = []
  const ask = async (_: string, parameters: Parameters): Promise<unknown> => {
    asked.push(parameters)
    const start = Number(parameters['after'] ?? 0)
    const end = Math.min(count, start + Math.min(3, Number(parameters['limit'])))
    const tablets = [{ id: Math.floor(start / 4) }, { id: Math.floor(end / 4) }]
    return { table: 'A', rows: rows(start, end), ...(end < count ? { next: `${end}` } : {}), tablets }
  }
  return { asked, ask }
}

test('the pages of a table are one, up to the limit, with its tablets once', async () => {
  const { ask, asked } = tableOf(8)
  expect(await wholeReport(ask, 'table', { name: 'A', limit: '100' })).toEqual({
    table: 'A',
    rows: rows(0, 8),
    tablets: [{ id: 0 }, { id: 1 }, { id: 2 }],
  })
  expect(asked.map(({ limit }) => limit)).toEqual(['100', '97', '94'])
  expect(await wholeReport(ask, 'table', { name: 'A', limit: '5' })).toMatchObject({ rows: rows(0, 5), next: '5' })
})

test('older records come before those of the page before, and the log of an entity is whole', async () => {
  const ask = async (what: string, { before, after }: Parameters): Promise<unknown> => {
    if (what === 'rows' && after === undefined) return { rows: [1, 2], next: '2', log: { records: [], hasMore: true } }
    if (what === 'rows') return { rows: [3], log: { records: [8, 9], hasMore: true, previous: '8' } }
    const end = Number(before)
    const previous = end === 4 ? {} : { hasMore: true, previous: `${end - 2}` }
    return { records: [end - 2, end - 1], ...previous }
  }
  expect(await wholeReport(ask, 'log', { before: '8' })).toEqual({ records: [2, 3, 4, 5, 6, 7] })
  expect(await wholeReport(ask, 'rows', {})).toEqual({ rows: [1, 2, 3], log: { records: [2, 3, 4, 5, 6, 7, 8, 9] } })
})
