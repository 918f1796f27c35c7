/**
 * The watch over gateways that may have died: a list of commits whose bytes do not change for ten seconds, by the watcher's own clock,
 * is resolved and removed.
 *
 * The other gateway may be alive. Then some of its commits are refused, which its own conditional writes tell it, and its next stamp stores its
 * list again. Strong reads do not wait for the watch: they resolve the commits that they meet.
 *
 * A database is watched while it is used here, and until it has no list of another gateway. A store with a thousand unused databases is thus
 * read no more often than an empty one. All databases are read when the gateway starts and every ten minutes (sweep.ts), which also removes a
 * list in a database that no gateway uses.                                                                watch.test.ts
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
  /** The latest seen list of each gateway, by clock row, gateway and database. */
  #seen = new Map<string, Seen>()

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  /** Starts looks every five seconds; the first one reads all databases of the store. */
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
    // Finishes a deletion whose gateway has died.
    await closed.look(database)
    const state = await clock.closed()
    const nowMs = store.scheduler.steadyMs()
    for (const list of state.lists) {
      const { row, gateway, head, commits } = list
      if (gateway === store.gateway) continue
      const name = `${row} ${gateway} ${clock.database}`
      const before = this.#seen.get(name)
      const sinceMs = before?.head === head ? before.sinceMs : nowMs
      seen.set(name, { head, sinceMs })
      if (nowMs - sinceMs < abandonedAfterMs) continue
      if (!store.isOff('resolve-before-strike')) {
        await Promise.all(commits.map((commit) => resolver.decideAndFinish(commit, commit.stamp)))
      }
      await clock.strike(list, new Set(commits.map(({ id }) => id)))
    }
    return state
  }
}

/** Whether commits are under way, or another gateway has a list that it may have left. */
export function isBusy({ lists, listed }: ClockState, gateway: bigint): boolean {
  return listed.length > 0 || lists.some((list) => list.gateway !== gateway)
}
