/**
 * The watch over gateways that may have died: a list of commits whose bytes do not change for ten seconds, by the watcher's own clock,
 * is resolved and struck out.
 *
 * The suspect may be alive. Some of its commits are refused then, as its own conditional writes tell it, and its next stamp brings its
 * list back. Strong reads do not wait for the watch: they resolve what they meet.
 */
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'

const lookEveryMs = 5_000
const abandonedAfterMs = 10_000

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
    const seen = new Map<string, Seen>()
    for (const database of this.#databases.all()) await this.#lookAt(database, seen)
    this.#seen = seen
  }

  async #lookAt(database: SharedDatabase, seen: Map<string, Seen>): Promise<void> {
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
  }
}
