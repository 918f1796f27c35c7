/**
 * The watch over gateways that may have died: a list of commits whose bytes do not change for ten seconds, by the watcher's own clock,
 * is resolved and struck out.
 *
 * The suspect may be alive. Some of its commits are refused then, as its own conditional writes tell it, and its next stamp brings its
 * list back. Strong reads do not wait for the watch: they resolve what they meet.
 *
 * A database is looked at while it is used here, and until no list of another gateway is left in it. Then it is quiet and costs nothing: a
 * store of a thousand quiet databases is looked at no more often than an empty one. All databases are read when the gateway starts, and
 * every ten minutes (sweep.ts), so a list that was left in one that no gateway uses goes too.              watch.test.ts
 */
import type { ClockState } from './clock-state.ts'
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'
import { formatRow } from './store-format.ts'

const lookEveryMs = 5_000
const abandonedAfterMs = 10_000
const quietAfterMs = 60_000

interface Seen {
  readonly head: string
  readonly sinceMs: number
}

export class Watch {
  readonly #databases: SharedDatabases
  /** The list of each gateway as it was seen last, by database and gateway. */
  #seen = new Map<string, Seen>()

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  /** Looks every five seconds, at first at all databases of the store. */
  start(): void {
    const { store } = this.#databases
    store.inBackground(async () => {
      await store.persistently(() => this.#databases.find())
      for (;;) {
        await store.persistently(() => this.#look())
        await store.sleep(lookEveryMs)
      }
    }, true)
  }

  async #look(): Promise<void> {
    const { store, watched } = this.#databases
    const seen = new Map<string, Seen>()
    // A gateway without calls still notices a store that is silent or gone.
    if (watched.size === 0) await store.kv.get(formatRow)
    for (const database of [...watched.keys()]) {
      const state = await this.#lookAt(database, seen)
      const unusedMs = store.scheduler.steadyMs() - (watched.get(database) ?? 0)
      if (unusedMs > quietAfterMs && !isBusy(state, store.gateway)) watched.delete(database)
    }
    this.#seen = seen
  }

  async #lookAt(database: SharedDatabase, seen: Map<string, Seen>): Promise<ClockState> {
    const { store, closed } = this.#databases
    const { clock, resolver } = database
    // A deletion whose gateway has died is finished here.
    await closed.look(database)
    const state = await clock.read()
    const nowMs = store.scheduler.steadyMs()
    for (const [gateway, head] of state.lists) {
      if (gateway === store.gateway) continue
      const name = `${gateway} ${clock.database}`
      const before = this.#seen.get(name)
      const sinceMs = before?.head === head ? before.sinceMs : nowMs
      seen.set(name, { head, sinceMs })
      if (nowMs - sinceMs < abandonedAfterMs) continue
      const listed = state.listed.filter((one) => one.gateway === gateway)
      await Promise.all(listed.map((commit) => resolver.decideAndFinish(commit, commit.stamp)))
      await clock.strike(state, gateway, new Set(listed.map(({ id }) => id)))
    }
    return state
  }
}

/** Whether commits are under way, or another gateway has a list that it may have left. */
export function isBusy({ lists, listed }: ClockState, gateway: bigint): boolean {
  return listed.length > 0 || [...lists.keys()].some((each) => each !== gateway)
}
