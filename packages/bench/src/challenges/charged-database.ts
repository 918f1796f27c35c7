/**
 * The database of a store as a challenge's program reaches it: every call takes its way, is charged to the simulated tablets, and is counted.
 *
 *   Db (plain values, for programs in JavaScript) ──┐
 *   the server of a command (served-database.ts) ───┴──▶ here ──▶ engine
 *
 * DB1  Every call takes the way to the service and back, of some milliseconds, and is charged to the simulated tablets.
 * - The meter counts the calls that reached the service, also those that failed.
 */
import {
  type AggregationBatch,
  type CommitRequest,
  type CommitResult,
  type Database,
  decodeKeys,
  type Explained,
  type Key,
  type LookupRequest,
  type LookupResult,
  type Mutation,
  type QueryBatch,
  type RequestContext,
  type RunAggregationQueryRequest,
  type RunQueryRequest,
  type TransactionOptions,
} from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { hasCode } from '../sim/client.ts'
import { wordsOfPath } from '../sim/keys.ts'
import type { Store } from '../sim/store.ts'

/** The cost of the calls of a program, as the judge reads it. */
export class Meter {
  lookups = 0
  keysRead = 0
  queries = 0
  /** Index rows and entities that queries read, and rows that an offset skipped. */
  rowsRead = 0
  /** Entities in the answers of queries. */
  entitiesSent = 0
  commits = 0
  calls = 0
  /** Calls that the simulated servers were too busy for. */
  refused = 0
  /** Calls that ended in ABORTED. */
  conflicts = 0
  /** Virtual milliseconds of each commit, by the root key of its group. */
  readonly commitsOf: Map<string, number[]> = new Map()
}

export interface DbParts {
  readonly store: Store
  readonly random: Random
  readonly rpcMs: number
  readonly meter?: Meter
  /** Counts as well. */
  readonly totals?: Meter
  /** Answers come back at multiples of it, so that many go to the program's process at once; default 5. */
  readonly answersEveryMs?: number
  /** Weight and spread of each call; absent = one real operation. */
  readonly context?: () => RequestContext
  /** Whether the program itself is at the other end of the way, so that real time is spent there; then a way of 0 ms is none. */
  readonly isOutside?: boolean
  /** Attempts after the first one where the service was busy, as client libraries make them; default 0. */
  readonly retries?: number
  /** Called before each call; it throws to end the program there, as a crash does. */
  readonly before?: (call: 'read' | 'write') => void
}

export class ChargedDatabase {
  readonly meter: Meter
  readonly #parts: DbParts
  readonly #database: Database

  constructor(parts: DbParts) {
    this.#parts = parts
    this.#database = parts.store.database
    this.meter = parts.meter ?? new Meter()
  }

  lookup(request: LookupRequest): Promise<LookupResult> {
    this.#count('lookups')
    this.#count('keysRead', request.keys.length)
    return this.#call('read', (context) => this.#database.lookup(context, request))
  }

  /** @param isMore - whether it continues a query that was counted */
  runQuery(request: RunQueryRequest, { isMore = false }: { readonly isMore?: boolean } = {}): Promise<QueryBatch> {
    if (!isMore) this.#count('queries')
    return this.explainQuery(request).then(({ batch }) => {
      if (batch === undefined) throw new Error('the query was not run')
      return batch
    })
  }

  async explainQuery(request: RunQueryRequest): Promise<Explained<QueryBatch>> {
    const explained = await this.#call('read', (context) =>
      this.#database.explainQuery(context, request, { analyze: true }),
    )
    const { stats } = explained.metrics
    this.#count('rowsRead', (stats?.indexEntriesScanned ?? 0) + (stats?.documentsScanned ?? 0))
    this.#count('entitiesSent', explained.batch?.results.length)
    return explained
  }

  async runAggregationQuery(request: RunAggregationQueryRequest): Promise<AggregationBatch> {
    this.#count('queries')
    return this.#call('read', (context) => this.#database.runAggregationQuery(context, request))
  }

  beginTransaction(options: TransactionOptions): Promise<Uint8Array> {
    return this.#call('read', (context) => this.#database.beginTransaction(context, options))
  }

  async commit(request: CommitRequest): Promise<CommitResult> {
    this.#count('commits')
    // A transaction ends with its first commit: it is run again as a whole.
    const retries = request.mode === 'transactional' ? 0 : this.#parts.retries
    const result = await this.#call('write', (context) => this.#database.commit(context, request), retries)
    const keys = request.mutations.map((mutation, i) => result.mutationResults[i]?.key ?? this.#keyOf(mutation))
    const atMs = Number(this.#parts.store.clock.nowMicros() / 1000n)
    for (const group of new Set(keys.map(groupOf))) {
      const times = this.meter.commitsOf.get(group)
      if (times === undefined) this.meter.commitsOf.set(group, [atMs])
      else times.push(atMs)
    }
    return result
  }

  /** A transaction that lost a conflict has ended already. */
  rollback(transaction: Uint8Array): Promise<void> {
    return this.#call('read', async (context) => this.#database.rollback(context, transaction))
  }

  allocateIds(keys: readonly Key[]): Promise<readonly Key[]> {
    return this.#call('write', (context) => this.#database.allocateIds(context, keys))
  }

  reserveIds(keys: readonly Key[]): Promise<void> {
    return this.#call('write', (context) => this.#database.reserveIds(context, keys))
  }

  #keyOf(mutation: Mutation): Key | undefined {
    if (mutation.operation === 'delete') return mutation.key
    return decodeKeys(mutation.entity, 1, this.#parts.store.key().partition)[0]
  }

  #count(what: Exclude<keyof Meter, 'commitsOf'>, by = 1): void {
    for (const meter of [this.meter, this.#parts.totals]) if (meter !== undefined) meter[what] += by
  }

  #context(): RequestContext {
    return this.#parts.context?.() ?? this.#parts.store.context()
  }

  /** There, the work, and back (DB1). */
  async #call<T>(
    kind: 'read' | 'write',
    work: (context: RequestContext) => T | Promise<T>,
    retries = this.#parts.retries ?? 0,
  ): Promise<T> {
    const { store, rpcMs, before } = this.#parts
    for (let attempt = 0; ; attempt++) {
      this.#count('calls')
      before?.(kind)
      await this.#way(rpcMs / 2)
      try {
        return await work(this.#context())
      } catch (error) {
        if (hasCode(error, 'ABORTED')) this.#count('conflicts')
        const isBusy = hasCode(error, 'UNAVAILABLE', 'RESOURCE_EXHAUSTED')
        if (isBusy) this.#count('refused')
        if (attempt >= retries || !isBusy) throw error
        await store.sleep(100 * 2 ** attempt * (0.5 + this.#parts.random.next() / 2))
      } finally {
        await this.#way(this.#untilAnswer())
      }
    }
  }

  async #way(ms: number): Promise<void> {
    if (ms > 0 || this.#parts.isOutside !== true) await this.#parts.store.sleep(ms)
  }

  /** The way back, to the next moment at which answers arrive. */
  #untilAnswer(): number {
    const { store, rpcMs, answersEveryMs = 5 } = this.#parts
    const atMs = store.nowMs
    return rpcMs === 0 && answersEveryMs === 0
      ? 0
      : Math.ceil((atMs + rpcMs / 2) / answersEveryMs) * answersEveryMs - atMs
  }
}

function groupOf(key: Key | undefined): string {
  return key === undefined ? '' : wordsOfPath(key.path.slice(0, 1))
}
