/**
 * An engine in memory on virtual time, as an arm of a lab uses it.
 *
 * Clients of a simulation are async functions that sleep on the clock. {@link Store.together} starts them and moves time on
 * until the last one is done; between two of their steps no real time passes that could change an outcome.
 */
import {
  type ApplyPolicy,
  type Database,
  type Engine,
  type EngineOptions,
  type Key,
  type Mode,
  openEngine,
  type PathElement,
  type RequestContext,
} from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'

export const projectId = 'lab'

export interface StoreOptions {
  readonly seed?: number
  readonly mode?: Mode
  readonly apply?: ApplyPolicy
  readonly tablets?: NonNullable<EngineOptions['tablets']>
  readonly idCollisions?: NonNullable<EngineOptions['idCollisions']>
  readonly statisticsEveryMs?: number
  /** Rows to begin with. */
  readonly kv?: NonNullable<EngineOptions['kv']>
}

/** Labs keep little history: no arm reads the past, and memory is for rows. */
const retention = { ageMicros: 1_000_000n, bytesMax: 1024 * 1024 }

export async function openStore(options: EngineOptions): Promise<Store> {
  const clock = new VirtualClock()
  const failures: unknown[] = []
  const engine = await openEngine({
    ...options,
    scheduler: clock,
    retention,
    onBackgroundFailure: (error) => failures.push(error),
  })
  return new Store(engine, clock, failures)
}

export class Store {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly database: Database
  readonly #failures: readonly unknown[]
  readonly #startMicros: bigint

  constructor(engine: Engine, clock: VirtualClock, failures: readonly unknown[]) {
    this.engine = engine
    this.clock = clock
    this.database = engine.database(projectId)
    this.#failures = failures
    this.#startMicros = clock.nowMicros()
  }

  /** Milliseconds since the store was opened. */
  get nowMs(): number {
    return Number(this.clock.nowMicros() - this.#startMicros) / 1000
  }

  context(): RequestContext {
    return this.engine.context()
  }

  /** A context whose deadline is so many milliseconds from now. */
  contextWithin(ms: number): RequestContext {
    return { ...this.engine.context(), deadlineAt: this.clock.steadyMs() + ms }
  }

  key(...path: readonly PathElement[]): Key {
    return { partition: { projectId, databaseId: '', namespaceId: '' }, path }
  }

  sleep(ms: number): Promise<void> {
    return this.clock.sleep(ms)
  }

  /**
   * Runs clients side by side and moves time on until all are done.
   *
   * @param onTime - told the time since opening, about ten times a simulated second
   * @param stepMs - time between two looks at whether all are done; longer where clients sleep for hours
   * @throws an error of a client; and when no client waits for time and yet not all are done
   */
  async together(clients: readonly Promise<void>[], onTime?: (nowMs: number) => void, stepMs = 100): Promise<void> {
    let running = true
    const all = Promise.all(clients).finally(() => {
      running = false
    })
    // Without a listener a failure would end the process before the last line of this function hears of it.
    all.catch(() => {})
    // Clients that begin now begin at this time.
    await this.clock.advance(0)
    while (running) {
      await this.clock.advance(stepMs)
      onTime?.(this.nowMs)
      if (this.nowMs > longestMs) throw new Error('the simulated clients do not come to an end')
    }
    await all
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  async close(): Promise<void> {
    await this.engine.close()
  }
}

const longestMs = 7 * 24 * 3_600_000
