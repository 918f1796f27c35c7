/** The load generator of the benchmarks against a server in this process: what it sends is understood, what it counts is right. */
import { type Emulator, startEmulator } from '@sixtables/gateway'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { markdown, type Results, ratio, type WireResult } from '../src/benchmarks/report.ts'
import { Connection } from '../src/benchmarks/wire/connection.ts'
import { answers, commit, entity, lookup } from '../src/benchmarks/wire/messages.ts'
import { hotSize, load, workloads } from '../src/benchmarks/wire/workloads.ts'

let emulator: Emulator
let connection: Connection

beforeAll(async () => {
  emulator = await startEmulator({ port: 0 })
  connection = await Connection.open(emulator.port)
  await load(connection, hotSize)
})

afterAll(async () => {
  connection.close()
  await emulator.close()
})

describe('each workload', () => {
  test.each(workloads.map((workload) => [workload.name, workload] as const))(
    '%s is answered as it should be',
    async (_name, workload) => {
      await workload.check(connection)
      const result = await workload.measure({ connection, streams: 4, warmMs: 0, timeMs: 60 })
      expect(result.operations).toBeGreaterThan(0)
      expect(result.p50Ms).toBeLessThanOrEqual(result.p99Ms)
      expect(result.p99Ms).toBeLessThanOrEqual(result.maxMs)
      // Clients of one counter lose to each other; nobody else fails.
      if (workload.name !== 'counter' && workload.name !== 'transaction') expect(result.failures).toBe(0)
    },
  )
})

test('X1: an error counts as a failure', async () => {
  const wrong = commit([entity('', undefined, 1)])
  await expect(connection.ask('Commit', wrong)).rejects.toThrow('Commit failed')
})

test('X2: messages larger than the windows of a connection arrive whole', async () => {
  const batches = Array.from({ length: 8 }, (_, b) =>
    Array.from({ length: 400 }, (_, i) => entity('Big', `b${b}-${i}`, i)),
  )
  const written = await Promise.all(batches.map((batch) => connection.ask('Commit', commit(batch))))
  expect(written.map((answer) => answers.written(answer))).toEqual(batches.map(() => 400))
  const names = Array.from({ length: 400 }, (_, i) => `b3-${i}`)
  expect(answers.found(await connection.ask('Lookup', lookup('Big', names)))).toBe(400)
})

test('the ratio is to the better of the others, and a server that was not measured gives none', () => {
  const result = (server: WireResult['server'], perSecond: number): WireResult => ({
    workload: 'lookup',
    title: 'lookup of 1 key',
    server,
    streams: 16,
    perSecond,
    operations: 100,
    failures: 0,
    seconds: 1,
    p50Ms: 1,
    p99Ms: 2,
    maxMs: 3,
    cpuMicros: 40,
  })
  const wire = [result('sixtables', 300), result('legacy', 50), result('firestore', 100)]
  expect(ratio(wire, 'lookup', false)).toBe(3)
  expect(ratio(wire, 'lookup', true)).toBeUndefined()
  const results: Results = {
    at: '2026-01-01',
    command: 'npm run bench',
    machine: 'm',
    pinning: 'p',
    servers: [{ server: 'sixtables', startMs: 200, idleMiB: 60, loadedMiB: 100 }],
    wire,
    growth: [
      { server: 'sixtables', size: 1000, p50Ms: 0.2, perSecond: 5000 },
      { server: 'sixtables', size: 10_000, p50Ms: 0.3, perSecond: 4000 },
    ],
  }
  const text = markdown(results)
  expect(text).toContain('| lookup of 1 key @16 | 300 (2 ms; 40 µs) | 3 × |')
  expect(text).toContain('| sixtables | 0.2 ms | 0.3 ms |')
  expect(text).toContain('line "sixtables" [1.30, 1.48]')
})
