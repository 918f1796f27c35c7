import { expect, test } from 'vitest'
import type { Scheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import type { KvRow } from '../storage/kv.ts'
import type { TableView } from '../tables/table.ts'
import { query, queryDatabase } from '../testing/query-world.ts'
import { aggregate } from './aggregate.ts'
import { windowOf } from './window.ts'

/** A table of `rows` equal rows, and what became of its scan. */
function tableOf(rows: number): TableView & { readonly state: { left: number; closed: boolean } } {
  const row: KvRow = { key: 'x'.repeat(64), value: new Uint8Array(0) }
  const state = { left: rows, closed: false }
  const next = (count: number) => {
    const given = Math.min(count, state.left)
    state.left -= given
    return Array.from({ length: given }, () => row)
  }
  const close = () => {
    state.closed = true
  }
  return { state, get: () => undefined, scan: () => ({ next, seek: () => {}, close }) }
}

/** Runs deferred tasks only when told to. */
function handClock(): Scheduler & { readonly tasks: (() => void)[] } {
  const tasks: (() => void)[] = []
  return {
    tasks,
    nowMicros: () => 0n,
    steadyMs: () => 0,
    defer: (task) => void tasks.push(task),
    sleep: () => Promise.resolve(),
  }
}

const asked = query({ kind: 'A' })
const planned = plan(normalize(asked, queryDatabase), [])
const counted = { terms: [{ operator: 'count' as const, upTo: undefined }], fixed: new Map() }
const window = windowOf(asked, planned)

test('a short count answers at once and closes its scan', () => {
  const table = tableOf(30_000)
  const clock = handClock()
  const answer = aggregate({ context: requestContext({ clock }), view: table, plan: planned }, counted, window)
  expect(answer).toEqual({ values: [{ type: 'integer', value: 30_000n }] })
  expect(clock.tasks).toHaveLength(0)
  expect(table.state.closed).toBe(true)
})
