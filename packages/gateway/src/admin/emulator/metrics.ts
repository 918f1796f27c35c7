/**
 * Metrics of the server in Prometheus' text form.
 *
 *   GET /metrics      calls by method and code, durations, rows, open transactions, waiting records, memory; with a shared store also calls
 *                     to the Bigtable, running commits, the clock, sweeps
 *
 * The first scrape loads the library and starts the counting of calls and durations, so a server without a scraper pays nothing. Rows are
 * counted from the server's start.
 *
 * Known: Prometheus' text form 0.0.4, and its names for processes. docs/decisions/0061-metrics.md explains the choice of a library.
 */
import type { Engine, StoreFigures } from '@sixtables/engine'
import type { Registry } from 'prom-client'
import type { CallReport, Calls } from '../../calls/calls.ts'
import { dataMethodOf } from '../../methods.ts'
import type { Router } from '../../protocols/router.ts'

/** Bounds of the durations in seconds; a call in memory takes a tenth of a millisecond. */
const durationBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function addMetricsRoute(router: Router, engine: Engine, calls: Calls): void {
  let registry: Promise<Registry> | undefined
  router.add('GET', '/metrics', async () => {
    registry ??= metricsOf(engine, calls)
    const { metrics, contentType } = await registry.then(async (found) => ({
      metrics: await found.metrics(),
      contentType: found.contentType,
    }))
    return { file: { body: Buffer.from(metrics), contentType, headers: { 'Cache-Control': 'no-store' } } }
  })
}

const helps: ReadonlyMap<string, string> = new Map(
  `
sixtables_calls_total | Calls of the data API since the first scrape, by method and code of the answer; every code but OK is an error
sixtables_call_duration_seconds | Duration of calls of the data API since the first scrape
sixtables_rows_read_total | Rows read by calls since the start
sixtables_rows_written_total | Rows written and deleted since the start, by calls and by applying commits
sixtables_open_transactions | Transactions that are open
sixtables_waiting_records | Log records between commit and apply
process_resident_memory_bytes | Resident memory of the process
nodejs_heap_size_used_bytes | Memory that is used in V8's heap
nodejs_external_memory_bytes | Memory of buffers outside of V8's heap
process_start_time_seconds | Start of the process, in seconds since 1970
sixtables_bigtable_calls_total | Calls to the Bigtable since the first scrape, by method and code of the answer; repeated ones count each time
sixtables_bigtable_call_duration_seconds | Duration of calls to the Bigtable since the first scrape
sixtables_bigtable_retries_total | Calls to the Bigtable since the first scrape that repeated one without success
sixtables_bigtable_conflicts_total | Conditional writes since the first scrape whose condition did not hold: another commit or gateway came first
sixtables_bigtable_oldest_commit_age_seconds | For how long the oldest commit of this gateway is under way; 0 = none is
sixtables_bigtable_clock_offset_seconds | By how much the clock of this gateway is ahead of that of the Bigtable, by the last comparison; below 0 = it is behind
sixtables_bigtable_last_sweep_timestamp_seconds | When this gateway last ended a sweep of old cells, in seconds since 1970; 0 = it has made none
`
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as [string, string]),
)

async function metricsOf(engine: Engine, calls: Calls): Promise<Registry> {
  // For a CommonJS module, the members are those of the default export.
  const { default: prometheus } = await import('prom-client')
  const registry = new prometheus.Registry()
  const figures = figuresIn(prometheus, [registry])
  const count = figures.counter('sixtables_calls_total', ['method', 'code'])
  const duration = figures.duration('sixtables_call_duration_seconds')
  calls.observe(({ method, code, durationMs }: CallReport) => {
    const name = dataMethodOf(method)
    count.inc({ method: name, code })
    duration.observe({ method: name }, durationMs / 1000)
  })
  addFigures(figures, engine)
  if (engine.storeFigures !== undefined) addStoreFigures(figures, engine.storeFigures)
  return registry
}

type Prometheus = typeof import('prom-client')

type Figures = ReturnType<typeof figuresIn>

/** Makes the figures of a registry: counters and durations that are noted, totals and gauges that are read at each scrape. */
function figuresIn(prometheus: Prometheus, registers: Registry[]) {
  const named = (name: string) => ({ name, help: helps.get(name) ?? '', registers })
  const counter = <T extends string>(name: string, labelNames: T[]) =>
    new prometheus.Counter<T>({ ...named(name), labelNames })
  const duration = (name: string) =>
    new prometheus.Histogram({ ...named(name), labelNames: ['method'], buckets: durationBuckets })
  const total = (name: string, read: () => number): void => {
    new prometheus.Counter({
      ...named(name),
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  const gauge = (name: string, read: () => number): void => {
    new prometheus.Gauge({
      ...named(name),
      collect() {
        this.set(read())
      },
    })
  }
  return { counter, duration, total, gauge }
}

function addFigures({ total, gauge }: Figures, engine: Engine): void {
  const { totals } = engine
  total('sixtables_rows_read_total', () => totals.rowsRead)
  total('sixtables_rows_written_total', () => totals.rowsWritten + engine.rowsApplied)
  gauge('sixtables_open_transactions', () => engine.openTransactions)
  gauge('sixtables_waiting_records', () => engine.waitingRecords)
  gauge('process_resident_memory_bytes', () => process.memoryUsage.rss())
  gauge('nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed)
  gauge('nodejs_external_memory_bytes', () => process.memoryUsage().external)
  const startSeconds = performance.timeOrigin / 1000
  gauge('process_start_time_seconds', () => startSeconds)
}

function addStoreFigures({ counter, duration, gauge }: Figures, shared: StoreFigures): void {
  const count = counter('sixtables_bigtable_calls_total', ['method', 'code'])
  const took = duration('sixtables_bigtable_call_duration_seconds')
  const retries = counter('sixtables_bigtable_retries_total', ['method'])
  const conflicts = counter('sixtables_bigtable_conflicts_total', [])
  shared.observeCalls(({ method, code, durationMs, isRetry, isConflict }) => {
    count.inc({ method, code })
    took.observe({ method }, durationMs / 1000)
    if (isRetry) retries.inc({ method })
    if (isConflict) conflicts.inc()
  })
  gauge('sixtables_bigtable_oldest_commit_age_seconds', () => shared.oldestCommitMs / 1000)
  gauge('sixtables_bigtable_clock_offset_seconds', () => Number(shared.clockAheadMicros ?? 0n) / 1e6)
  gauge('sixtables_bigtable_last_sweep_timestamp_seconds', () => Number(shared.sweptAtMicros ?? 0n) / 1e6)
}
