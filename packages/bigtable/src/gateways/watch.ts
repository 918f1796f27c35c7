/**
 * The watch over gateways that may have died: a list of commits whose bytes do not change for ten seconds, by the watcher's own clock,
 * is resolved and removed.
 *
 * The other gateway may be alive. Then some of its commits are refused, which its own conditional writes tell it, and its next stamp stores its
 * list again.
 *
 * A database is watched while it is used here, and until it has no list of another gateway. So a store with a thousand unused databases is read no
 * more often than an empty one. All databases are read every ten minutes too (sweep.ts).                           watch.test.ts
 */
import { type ClockState, isBusy } from './clock-state.ts'
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'
import { formatRow } from './store-format.ts'

const lookEveryMs = 5_000
const abandonedAfterMs = 10_000
const quietAfterMs = 60_000

interface Seen {
  /** The numbers of its state. */
  readonly state: string
  readonly sinceMs: number
}

/** Looks every five seconds; the first look reads all databases of the store. */
export function startWatch(databases: SharedDatabases): void {
  const { store } = databases
  /** The latest seen list of each gateway, by clock row, gateway and database. */
  let seen: ReadonlyMap<string, Seen> = new Map()
  store.inBackground(async () => {
    await store.persistently(() => databases.find())
    for (;;) {
      seen = await store.persistently(() => look(databases, seen))
      await store.sleep(lookEveryMs)
    }
  }, true)
}

async function look(databases: SharedDatabases, before: ReadonlyMap<string, Seen>): Promise<ReadonlyMap<string, Seen>> {
  const { store, watched } = databases
  const seen = new Map<string, Seen>()
  // A gateway without calls still notices a store that is silent or gone.
  if (watched.size === 0) await store.kv.get(formatRow)
  for (const [database, state] of await databases.read([...watched.keys()])) {
    await lookAt(database, state, before, seen)
    const unusedMs = store.scheduler.steadyMs() - (watched.get(database) ?? 0)
    if (unusedMs > quietAfterMs && !isBusy(state, store.gateway)) watched.delete(database)
  }
  return seen
}

async function lookAt(
  { store, clock, resolver }: SharedDatabase,
  state: ClockState,
  before: ReadonlyMap<string, Seen>,
  seen: Map<string, Seen>,
): Promise<void> {
  // The low watermark should move although a row is quiet.
  if (state.registers.some((register) => register < state.given)) await clock.closed()
  const nowMs = store.scheduler.steadyMs()
  for (const list of state.lists) {
    const { row, gateway, write, strikes, commits } = list
    if (gateway === store.gateway) continue
    const name = `${row} ${gateway} ${clock.database}`
    const known = before.get(name)
    const found = `${write} ${strikes}`
    const sinceMs = known?.state === found ? known.sinceMs : nowMs
    seen.set(name, { state: found, sinceMs })
    if (nowMs - sinceMs < abandonedAfterMs) continue
    if (!store.isOff('resolve-before-strike')) {
      await Promise.all(commits.map((commit) => resolver.decideAndFinish(commit, commit.stamp)))
    }
    await clock.strike(list, new Set(commits.map(({ id }) => id)))
  }
}
