import { describe, expect, test } from 'vitest'
import { ask, numbered } from '../../test/support/asked-page.ts'
import { entity, index, type QueryWords, storeOf, where } from '../testing/query-world.ts'
import type { AnswerLimits } from './window.ts'

describe('why an answer ends', () => {
  const store = storeOf(numbered(5))

  test.each<[string, QueryWords, AnswerLimits, string, number]>([
    ['no rows are left', {}, {}, 'noMoreResults', 5],
    ['the limit is reached', { limit: 4 }, {}, 'moreResultsAfterLimit', 4],
    ['the limit is reached with the last row', { limit: 5 }, {}, 'noMoreResults', 5],
    ['the limit is reached with the last row, behind an offset', { offset: 4, limit: 1 }, {}, 'noMoreResults', 1],
    ['the limit is said, and reached with the last row', { limit: 5 }, { saysLimit: true }, 'moreResultsAfterLimit', 5],
    ['the limit is said, and not reached', { limit: 6 }, { saysLimit: true }, 'noMoreResults', 5],
    ['the limit is not reached', { limit: 6 }, {}, 'noMoreResults', 5],
    ['the limit is 0', { limit: 0 }, {}, 'moreResultsAfterLimit', 0],
    ['the limit is 0, and nothing is there', { filter: where('p', '>', 9n), limit: 0 }, {}, 'moreResultsAfterLimit', 0],
    ['the answer holds enough results', {}, { resultsMax: 2 }, 'notFinished', 2],
    ['the answer holds enough results, and no more are there', {}, { resultsMax: 5 }, 'noMoreResults', 5],
    ['enough results are passed over', { offset: 3 }, { skippedMax: 2 }, 'notFinished', 0],
    ['enough results are passed over, and no more are there', { offset: 9 }, { skippedMax: 5 }, 'noMoreResults', 0],
    ['the offset is as long as may be passed over', { offset: 2 }, { skippedMax: 2 }, 'noMoreResults', 3],
    ['limit and answer end together', { limit: 2 }, { resultsMax: 2 }, 'moreResultsAfterLimit', 2],
    ['the answer holds enough bytes, and one result always fits', {}, { resultBytesMax: 1 }, 'notFinished', 1],
  ])('%s', (_, words, limits, reason, count) => {
    const { page } = ask(store, { kind: 'A', ...words }, limits)
    expect([page.moreResults, page.results.length]).toEqual([reason, count])
  })

  test('the end cursor is reached', () => {
    const cursors = ask(store, { kind: 'A' }).page.results.map((result) => result.cursor)
    const until = (i: number) => ask(store, { kind: 'A', ...(cursors[i] && { endCursor: cursors[i] }) })
    expect(until(2).keys).toEqual(['A:1', 'A:2', 'A:3'])
    expect(until(2).page.moreResults).toBe('moreResultsAfterCursor')
    expect(until(4).page.moreResults).toBe('noMoreResults')
    const endCursor = cursors[2]
    const reason = (limit: number) => ask(store, { kind: 'A', limit, ...(endCursor && { endCursor }) }).page.moreResults
    expect([2, 3, 4].map(reason)).toEqual(['moreResultsAfterLimit', 'moreResultsAfterCursor', 'moreResultsAfterCursor'])
    const { page } = ask(store, { kind: 'A', limit: 3, ...(endCursor && { endCursor }) }, { saysLimit: true })
    expect(page.moreResults).toBe('moreResultsAfterLimit')
  })

  test('a look for more reads one row of an index, and no entity', () => {
    const rows = (words: QueryWords) => ask(store, { kind: 'A', ...words }).ledger.rowsRead
    expect(rows({ limit: 2 })).toBe(3 + 2)
    expect(rows({ limit: 2, projection: ['__key__'] })).toBe(3)
    expect(rows({ limit: 0 })).toBe(0)
  })

  test('an answer stays below its size in bytes', () => {
    const blob = 'x'.repeat(1400)
    const big = storeOf(Array.from({ length: 50 }, (_, i) => entity(`A:${i + 1}`, { blob })))
    const { page } = ask(big, { kind: 'A' }, { resultBytesMax: 20_000 })
    expect(page.results.length).toBeGreaterThan(10)
    expect(page.results.length * 1400).toBeLessThan(20_000)
  })
})

describe('batches', () => {
  const many = storeOf(numbered(1_300))
  const batch = (words: QueryWords) => {
    const { page } = ask(many, { kind: 'A', ...words })
    return [page.results.length, page.skipped, page.moreResults]
  }

  test('hold 300 results, of every kind', () => {
    expect(batch({})).toEqual([300, 0, 'notFinished'])
    expect(batch({ projection: ['__key__'] })).toEqual([300, 0, 'notFinished'])
    expect(batch({ projection: ['p'] })).toEqual([300, 0, 'notFinished'])
    expect(batch({ filter: where('p', '=', 1n), order: ['__key__ desc'] })).toEqual([300, 0, 'notFinished'])
    expect(batch({ limit: 301 })).toEqual([300, 0, 'notFinished'])
    expect(batch({ limit: 300 })).toEqual([300, 0, 'moreResultsAfterLimit'])
    expect(batch({ offset: 1_000 })).toEqual([300, 1_000, 'noMoreResults'])
    expect(batch({ offset: 999 })).toEqual([300, 999, 'notFinished'])
  })

  test('pass over 1,000 results at most', () => {
    expect(batch({ offset: 1_001 })).toEqual([0, 1_000, 'notFinished'])
    expect(batch({ offset: 1_001, limit: 1 })).toEqual([0, 1_000, 'notFinished'])
    expect(batch({ offset: 5_000, limit: 0 })).toEqual([0, 1_000, 'notFinished'])
    const begun = ask(many, { kind: 'A', offset: 1_250 }).page
    const rest = ask(many, { kind: 'A', startCursor: begun.endCursor, offset: 1_250 - begun.skipped })
    expect([rest.keys.length, rest.keys[0], rest.page.skipped]).toEqual([50, 'A:1251', 250])
  })

  test.each<[string, QueryWords]>([
    ['in key order', {}],
    ['by a property, entities with arrays once', { order: ['tags', 'p desc'] }],
    ['of a projection, with each row of an array', { projection: ['tags'] }],
    ['keys only, backwards', { projection: ['__key__'], order: ['p', '__key__ desc'] }],
    ['with a limit', { limit: 650 }],
    ['with an offset', { offset: 40, order: ['p'] }],
  ])('put together are the whole result, and so is what follows each cursor: %s', (_, words) => {
    const world = Array.from({ length: 660 }, (_, i) =>
      entity(`A:${i + 1}`, { p: BigInt(i % 7), tags: i % 16 === 0 ? [BigInt(i % 5), BigInt(i % 3)] : BigInt(i % 5) }),
    )
    const indexes = [index('A(tags, p desc)', 1n)]
    const store = storeOf(world, indexes)
    const answer = (more: QueryWords, limits: AnswerLimits = {}) =>
      ask(store, { kind: 'A', ...words, ...more }, { ...limits, indexes })
    const whole = answer({}, { resultsMax: Number.POSITIVE_INFINITY }).keys
    const together: string[] = []
    let { page, keys } = answer({})
    for (;;) {
      expect(keys.length).toBeLessThanOrEqual(300)
      together.push(...keys)
      // A cursor in the middle of a batch begins the rest of the result, too.
      for (const at of [0, 17, keys.length - 1]) {
        const rest = whole.slice(together.length - keys.length + at + 1)
        const limit = words.limit && rest.length
        expect(answer({ startCursor: page.results[at]?.cursor, offset: 0, limit }).keys).toEqual(rest.slice(0, 300))
      }
      if (page.moreResults !== 'notFinished') break
      const limit = words.limit && words.limit - together.length
      ;({ page, keys } = answer({ startCursor: page.endCursor, offset: 0, limit }))
    }
    expect(page.moreResults).toBe(words.limit === undefined ? 'noMoreResults' : 'moreResultsAfterLimit')
    expect(together).toEqual(whole)
    expect(whole.length).toBeGreaterThan(600)
  })
})

describe('offset', () => {
  const store = storeOf(numbered(5))

  test('counts what is passed over, and says where that ended', () => {
    const { page, keys } = ask(store, { kind: 'A', offset: 3 })
    expect([keys, page.skipped]).toEqual([['A:4', 'A:5'], 3])
    const rest = ask(store, { kind: 'A', ...(page.skippedCursor && { startCursor: page.skippedCursor }) })
    expect(rest.keys).toEqual(['A:4', 'A:5'])
  })

  test('beyond the end counts what there was, with a limit of 0 too', () => {
    for (const limit of [undefined, 0, 10]) {
      const { page } = ask(store, { kind: 'A', offset: 100, limit })
      expect([page.results.length, page.skipped, page.moreResults]).toEqual([0, 5, 'noMoreResults'])
    }
  })

  test('comes after the start cursor, and the end cursor does not fall back to the start', () => {
    const second = ask(store, { kind: 'A', limit: 2 }).page.endCursor
    const { page, keys } = ask(store, { kind: 'A', startCursor: second, offset: 1, limit: 1 })
    expect(keys).toEqual(['A:4'])
    expect(ask(store, { kind: 'A', startCursor: page.endCursor }).keys).toEqual(['A:5'])
    const past = ask(store, { kind: 'A', startCursor: second, offset: 10 }).page
    expect(ask(store, { kind: 'A', startCursor: past.endCursor }).keys).toEqual([])
  })

  test('reads no entities', () => {
    const { ledger } = ask(store, { kind: 'A', offset: 4, limit: 1 })
    expect(ledger.rowsRead).toBe(5 + 1)
  })

  test('is not given where nothing is passed over', () => {
    expect(ask(store, { kind: 'A' }).page).not.toHaveProperty('skippedCursor')
  })
})
