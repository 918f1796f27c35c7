/**
 * The state of the whole server, as server-sent events.
 *
 *   GET /emulator/overview    an event each interval (ms)
 *
 * Calls are observed only while a stream is open. An event contains counters that exist already, so its cost does not grow with the
 * store.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { type Engine, type Finding, systemScheduler, turnOfItsOwn } from '@sixtables/engine'
import type { CallReport, Calls } from '../../calls/calls.ts'
import { wholeNumber } from '../../convert/parameters.ts'
import { dataMethodOf } from '../../methods.ts'
import { eventOf, type Router } from '../../protocols/router.ts'

export interface MethodOverview {
  readonly calls: number
  readonly errors: number
  /** Quantiles of the time until the answer, over all calls. */
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface OverviewEvent {
  readonly at: string
  /** Since the event before; 0 in the first. */
  readonly seconds: number
  /** All calls together; absent without calls. */
  readonly all?: MethodOverview
  readonly methods: Readonly<Record<string, MethodOverview>>
  readonly codes: Readonly<Record<string, number>>
  readonly openTransactions: number
  readonly waitingRecords: number
  /** The first {@link databasesMax}; an empty `database` is the default one. */
  readonly databases: readonly { readonly project: string; readonly database: string }[]
  readonly moreDatabases?: number
  readonly findings: readonly Finding[]
}

const databasesMax = 1000

export function addOverviewRoute(router: Router, engine: Engine, calls: Calls): void {
  router.add('GET', '/emulator/overview?interval', ({ query }) => {
    const intervalMs = wholeNumber('interval', query.get('interval'), { min: 100, max: 60_000 }) ?? 1000
    return { events: (signal) => eventsOf(engine, calls, intervalMs, signal) }
  })
}

async function* eventsOf(
  engine: Engine,
  calls: Calls,
  intervalMs: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const counts = new CallCounts()
  const stop = calls.observe((report) => counts.add(report))
  const context = engine.context({ signal })
  try {
    for (;;) {
      yield eventOf({
        at: new Date().toISOString(),
        ...counts.take(),
        openTransactions: engine.openTransactions,
        waitingRecords: engine.waitingRecords,
        ...databasesOf(engine),
        findings: engine.findings(),
      } satisfies OverviewEvent)
      // Real time: a watcher must not move an emulator's clock that stands still.
      await systemScheduler.sleep(intervalMs, signal).catch(() => {})
      if (signal.aborted) return
      await turnOfItsOwn(context)
    }
  } finally {
    stop()
  }
}

function databasesOf(engine: Engine): Pick<OverviewEvent, 'databases' | 'moreDatabases'> {
  const all = engine.databases()
  const shown = all.slice(0, databasesMax)
  const more = all.length - shown.length
  return {
    databases: shown.map(({ projectId, databaseId }) => ({ project: projectId, database: databaseId })),
    ...(more > 0 ? { moreDatabases: more } : {}),
  }
}

/** An hour, in microseconds. */
const latencyMax = 3_600_000_000
const latencies = { lowest: 1, highest: latencyMax, figures: 2 }

interface MethodCounts {
  calls: number
  errors: number
  /** In microseconds. */
  readonly latency: RecordableHistogram
}

class CallCounts {
  /** By method; '' = all calls. */
  #methods = new Map<string, MethodCounts>()
  #codes = new Map<string, number>()
  #takenAtMs: number | undefined

  add({ method, code, durationMs }: CallReport): void {
    for (const name of ['', dataMethodOf(method)]) {
      const counts = this.#methods.get(name) ?? { calls: 0, errors: 0, latency: createHistogram(latencies) }
      this.#methods.set(name, counts)
      counts.calls++
      if (code !== 'OK') counts.errors++
      counts.latency.record(Math.min(latencyMax, Math.max(1, Math.round(durationMs * 1000))))
    }
    if (code !== 'OK') this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1)
  }

  take(): Pick<OverviewEvent, 'seconds' | 'all' | 'methods' | 'codes'> {
    const now = performance.now()
    const seconds = (now - (this.#takenAtMs ?? now)) / 1000
    this.#takenAtMs = now
    const counted = [...this.#methods].map(([name, { calls, errors, latency }]) => {
      const at = (percentile: number): number => latency.percentile(percentile) / 1000
      return [name, { calls, errors, p50Ms: at(50), p99Ms: at(99) }] as const
    })
    const { '': all, ...methods } = Object.fromEntries(counted)
    const codes = Object.fromEntries(this.#codes)
    this.#methods = new Map()
    this.#codes = new Map()
    return { seconds, ...(all === undefined ? {} : { all }), methods, codes }
  }
}
