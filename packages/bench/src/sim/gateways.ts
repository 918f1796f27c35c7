/**
 * Several gateways over one simulated store of rows (remote-rows.ts): an engine each, on one virtual clock. A gateway has one core, and
 * each call of a client occupies it for `callMs`. After `kill()` the calls of a gateway fail with UNAVAILABLE, like those on a
 * broken connection.
 */
import { MemoryRows, severalGateways } from '@sixtables/bigtable/gateways'
import { DatastoreError, type EngineOptions, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { Client } from './client.ts'
import { type GatewaySession, RemoteRows, RowServers } from './remote-rows.ts'
import { projectId, Store } from './store.ts'

/**
 * Opens gateways with the times and capacities of the settings; their calls take no time until `servers.isOn` is set.
 *
 * @param clockRows - number of clock rows of the database
 */
export async function openGateways(
  session: GatewaySession,
  count: number,
  clockRows: number,
  options: Partial<EngineOptions> | undefined,
): Promise<Gateways> {
  const clock = new VirtualClock()
  const servers = new RowServers(clock, session)
  const rows = new MemoryRows()
  const all: Gateway[] = []
  for (let number = 1; number <= count; number++) {
    const failures: unknown[] = []
    const own = new RemoteRows(rows, servers)
    const adapter = severalGateways({ rows: own, gateway: number, switchedOff: options?.switchedOff })
    const engine = await openEngine({
      store: adapter,
      scheduler: clock,
      seed: session.seed + number,
      onBackgroundFailure: (error) => failures.push(error),
      ...options,
    })
    const store = new Store(engine, clock, failures)
    all.push(new Gateway(store, own, session))
    const change = async (): Promise<void> => {
      await adapter.changeRows({ projectId, databaseId: '' }, clockRows)
    }
    if (number === 1 && clockRows > 1) await store.together([change()])
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

  constructor(store: Store, rows: RemoteRows, session: GatewaySession) {
    this.store = store
    this.#rows = rows
    this.#callMs = session.setting('gateways.callMs')
    this.client = new Client(store, session.setting('client.rpcMs'), (work) => this.#serve(work))
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
