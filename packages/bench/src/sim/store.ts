/**
 * An engine in memory on virtual time, for an arm of a lab.
 *
 * Clients are async functions that sleep on the virtual clock. {@link Store.together} starts them and advances the clock until all are
 * done: a client that sleeps for an hour costs no real time, and no outcome depends on real time.
 */
import {
  type CommitResult,
  type Database,
  type Engine,
  type EngineOptions,
  type Key,
  type Mutation,
  openEngine,
  type PathElement,
  type Query,
  type RequestContext,
} from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { Unmeasured } from '../measure/recorder.ts'
import { queryOf } from './entities.ts'

export const projectId = 'lab'

/** `kv` has the initial rows. */
export type StoreOptions = Pick<
  EngineOptions,
  'seed' | 'mode' | 'apply' | 'tablets' | 'idCollisions' | 'statisticsEveryMs' | 'kv'
>

/** The first Datastore, with commits that are applied at once. */
export const legacyAtOnce = { mode: 'legacy', apply: { type: 'immediate' } } as const

/** Labs keep little history: no arm reads the past, and the memory is needed for rows. */
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

  /** A context whose deadline is in `ms` milliseconds. */
  contextWithin(ms: number): RequestContext {
    return { ...this.engine.context(), deadlineAt: this.clock.steadyMs() + ms }
  }

  key(...path: readonly PathElement[]): Key {
    return { partition: { projectId, databaseId: '', namespaceId: '' }, path }
  }

  /** A query of a kind for whole entities, without filter and order; `more` says what is different. */
  query(kind: string | undefined, more: Partial<Query> = {}): Query {
    return queryOf(this.key().partition, kind, more)
  }

  /** Commits mutations, each for itself. */
  async put(mutations: readonly Mutation[]): Promise<CommitResult> {
    return this.database.commit(this.context(), { mode: 'nonTransactional', mutations })
  }

  /**
   * The same for many, 500 a commit, whose mutations are made when the commit before is done.
   *
   * @param pauseMs - time after each commit, which leaves the servers time for others
   */
  async putAll(mutations: Iterable<Mutation>, pauseMs?: number): Promise<void> {
    const commit: Mutation[] = []
    const end = async (): Promise<void> => {
      await this.put(commit.splice(0))
      if (pauseMs !== undefined) await this.sleep(pauseMs)
    }
    for (const mutation of mutations) {
      commit.push(mutation)
      if (commit.length === commitSize) await end()
    }
    if (commit.length > 0) await end()
  }

  sleep(ms: number): Promise<void> {
    return this.clock.sleep(ms)
  }

  /**
   * Runs clients side by side and advances the clock until all are done.
   *
   * @param onTime - called about ten times a simulated second with the time since opening
   * @param stepMs - time between two checks whether all are done; longer for clients that sleep for hours
   * @throws an error of a client; an error when no client sleeps and yet not all are done
   */
  async together(clients: readonly Promise<unknown>[], onTime?: (nowMs: number) => void, stepMs = 100): Promise<void> {
    let running = true
    const all = Promise.all(clients).finally(() => {
      running = false
    })
    // Without a listener now, an early failure would end the process as an unhandled rejection; the last line awaits it.
    all.catch(() => {})
    await this.clock.advance(0)
    while (running) {
      await this.clock.advance(stepMs)
      onTime?.(this.nowMs)
      if (this.nowMs > longestMs) throw new Unmeasured('the simulated clients do not come to an end within seven days')
    }
    await all
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  /** Runs work with nothing beside it. @param stepMs - as of `together` */
  async alone<T>(work: () => Promise<T>, stepMs?: number): Promise<T> {
    const answer = work()
    await this.together([answer], undefined, stepMs)
    return await answer
  }

  async close(): Promise<void> {
    await this.engine.close()
  }
}

const commitSize = 500
const longestMs = 7 * 24 * 3_600_000
