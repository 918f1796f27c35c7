import type { RecordedRequest } from '@sixtables/gateway/browser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barsOf, beginOf, timeScale } from './transaction-bars.ts'

const startMs = Date.parse('2030-01-31T12:00:00Z')

function call(ms: number, more: Partial<RecordedRequest>): RecordedRequest {
  const at = new Date(startMs + ms).toISOString()
  const rest = { id: ms, ms: 2, code: 'OK', protocol: 'grpc', rowsRead: 0, rowsWritten: 0 } as const
  return { at: `${at.slice(0, -1)}000Z`, method: 'lookup', transaction: '11', ...rest, ...more }
}

test('the begin of a call keeps its microseconds', () => {
  expect(beginOf({ at: '2030-01-31T12:00:00.123456Z' }) - startMs).toBeCloseTo(123.456, 2)
})

test('a transaction goes from its first call to its commit, and a rollback after an abort is of no account', () => {
  const requests = [
    call(30, { transaction: '12', method: 'rollback' }),
    call(20, {
      transaction: '12',
      method: 'commit',
      code: 'ABORTED',
      abortedBy: ['11'],
      waits: [{ afterMs: 1, ms: 1, row: 'ToDo:1', for: ['11'] }],
    }),
    call(10, { method: 'commit' }),
    call(5, { transaction: '12', method: 'beginTransaction' }),
    call(0, { method: 'beginTransaction' }),
  ]
  const [first, second] = barsOf(requests, startMs + 1000)
  expect(first).toMatchObject({ id: '11', outcome: 'committed', fromMs: startMs, toMs: startMs + 12, abortedBy: [] })
  expect(second).toMatchObject({ id: '12', outcome: 'aborted', toMs: startMs + 22, abortedBy: ['11'] })
  expect(second?.waits).toEqual([{ fromMs: startMs + 21, toMs: startMs + 22, row: 'ToDo:1', for: ['11'] }])
})

test('without an end it is open until nothing was heard of it for a minute', () => {
  const requests = [call(0, {}), call(1000, {})]
  expect(barsOf(requests, startMs + 50_000)[0]).toMatchObject({ outcome: 'open', toMs: startMs + 50_000 })
  expect(barsOf(requests, startMs + 70_000)[0]).toMatchObject({ outcome: 'expired', toMs: startMs + 61_002 })
  expect(barsOf([call(0, { method: 'commit', code: 'INVALID_ARGUMENT' })], startMs)[0]?.outcome).toBe('rolled back')
})

test('a call outside of transactions is in no bar', () => {
  const { transaction, ...plain } = call(0, {})
  expect(transaction).toBe('11')
  expect(barsOf([plain], startMs)).toEqual([])
})

test('later is never further left, and all calls are within the picture', () => {
  const times = fc.array(fc.tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: 50 })), {
    minLength: 1,
  })
  fc.assert(
    fc.property(times, (starts) => {
      const { x } = timeScale(starts.map(([fromMs, ms]) => ({ fromMs, toMs: fromMs + ms })))
      const all = starts.flatMap(([fromMs, ms]) => [fromMs, fromMs + ms]).sort((a, b) => a - b)
      let before = 0
      for (const ms of all) {
        const at = x(ms)
        expect(at).toBeGreaterThanOrEqual(before - 1e-9)
        expect(at).toBeLessThanOrEqual(1)
        before = at
      }
    }),
  )
})

test('a pause of minutes between calls of milliseconds is a gap, and the calls keep their widths', () => {
  const { x, gaps } = timeScale([
    { fromMs: 0, toMs: 10 },
    { fromMs: 60_000, toMs: 60_010 },
  ])
  expect(gaps).toEqual([{ atX: expect.closeTo(0.5), ms: 59_990 }])
  expect(x(10) - x(0)).toBeCloseTo(0.485)
  expect(x(60_010) - x(60_000)).toBeCloseTo(0.485)
})
