/**
 * Several gateways over one simulated store of rows (remote-rows.ts): an engine each, on one virtual clock. A gateway has one core, and
 * each call of a client occupies it for `callMs`. After `kill()` the calls of a gateway fail with UNAVAILABLE, like those on a
 * broken connection.
 */
import { MemoryRows, severalGateways } from '@sixtables/bigtable/gateways'
import { DatastoreError, type EngineOptions, openEngine } from '@sixtables/engine'
import { type Random, VirtualClock } from '@sixtables/engine/testing'
import { Client } from './client.ts'
import { RemoteRows, type RowCapacity, RowServers } from './remote-rows.ts'
import { projectId, Store } from './store.ts'

export interface GatewaysOptions {
  readonly count: number
  /** Number of clock rows of the database. */
  readonly clockRows: number
  readonly rows: RowCapacity
  /** CPU time of a client's call, in milliseconds. */
  readonly callMs: number
  /** Round trip between client and gateway, in milliseconds. */
  readonly rpcMs: number
  readonly seed: number
  readonly random: Random
  readonly engine: Partial<EngineOptions> | undefined
}

/** Opens gateways; their calls take no time until `servers.isOn` is set. */
export async function openGateways(options: GatewaysOptions): Promise<Gateways> {
  const clock = new VirtualClock()
  const servers = new RowServers(clock, options.rows, options.random)
  const rows = new MemoryRows()
  const all: Gateway[] = []
  for (let number = 1; number <= options.count; number++) {
    const failures: unknown[] = []
    const own = new RemoteRows(rows, servers)
    const adapter = severalGateways({ rows: own, gateway: number, switchedOff: options.engine?.switchedOff })
    const engine = await openEngine({
      store: adapter,
      scheduler: clock,
      seed: options.seed + number,
      onBackgroundFailure: (error) => failures.push(error),
      ...options.engine,
    })
    const store = new Store(engine, clock, failures)
    all.push(new Gateway(store, own, options))
    const change = async (): Promise<void> => {
      await adapter.changeRows({ projectId, databaseId: '' }, options.clockRows)
    }
    if (number === 1 && options.clockRows > 1) await store.together([change()])
  }
  return { all, servers }
}

export interface Gateways {
  readonly all: readonly Gateway[]
  readonly servers: RowServers
}

export class Gateway {
  readonly store: Store
  readonly client: Client
  readonly #rows: RemoteRows
  readonly #callMs: number
  readonly #killed: Promise<never>
  #fail: (error: unknown) => void = () => {}
  #isDead = false
  /** Time at which its core is free again. */
  #freeMs = 0

  constructor(store: Store, rows: RemoteRows, { callMs, rpcMs }: Pick<GatewaysOptions, 'callMs' | 'rpcMs'>) {
    this.store = store
    this.#rows = rows
    this.#callMs = callMs
    this.client = new Client(store, rpcMs, (work) => this.#serve(work))
    this.#killed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.#killed.catch(() => {})
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Fails all calls that are running, and lets those to the store end without an answer. */
  kill(): void {
    this.#isDead = true
    this.#rows.kill()
    this.#fail(new DatastoreError('UNAVAILABLE', 'the gateway was killed'))
  }

  /** Closes its engine, at no cost of simulated time. */
  async close(): Promise<void> {
    await this.store.together([this.store.close()], undefined, 1000)
  }

  async #serve<T>(work: () => T | Promise<T>): Promise<T> {
    const { store } = this
    this.#freeMs = Math.max(store.nowMs, this.#freeMs) + this.#callMs
    const served = store.sleep(this.#freeMs - store.nowMs).then(() => (this.#isDead ? this.#killed : work()))
    return await Promise.race([served, this.#killed])
  }
}
