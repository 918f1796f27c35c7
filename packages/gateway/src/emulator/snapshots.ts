/**
 * Named snapshots of a whole store in memory, over HTTP, for tests in other processes and languages.
 *
 *   GET    /emulator/snapshots                   {"snapshots": [{"name", "rows", "takenAt"}]}     the oldest first
 *   POST   /emulator/snapshots/{name}            keeps the current data; replaces a snapshot of that name
 *   POST   /emulator/snapshots/{name}/restore    replaces all data by that of the snapshot, any number of times
 *   DELETE /emulator/snapshots/{name}, /emulator/snapshots
 *
 * A call that fails changes no snapshot. They last as long as the server. A store on disk answers UNIMPLEMENTED, with the alternatives
 * (engine-snapshot.ts).
 */
import { DatastoreError, type Engine, type EngineSnapshot, invalidArgument } from '@sixtables/engine'
import type { EmulatorClock } from '../controls/emulator-clock.ts'
import type { RouteAnswer, Router } from '../protocols/router.ts'

/** Each snapshot may need memory of its own, as later writes copy the rows that it shares with the store. Ours. */
export const snapshotsMax = 100
const nameLengthMax = 100
const path = '/emulator/snapshots'

interface NamedSnapshot {
  readonly snapshot: EngineSnapshot
  readonly takenAt: string
}

export interface SnapshotReport {
  readonly name: string
  /** Rows of all tables, logs and counters together. */
  readonly rows: number
  /** Time on the emulator's clock. */
  readonly takenAt: string
}

export class Snapshots {
  readonly #engine: Pick<Engine, 'snapshot' | 'restore'>
  readonly #clock: EmulatorClock
  readonly #named = new Map<string, NamedSnapshot>()

  constructor(engine: Pick<Engine, 'snapshot' | 'restore'>, clock: EmulatorClock) {
    this.#engine = engine
    this.#clock = clock
  }

  list(): readonly SnapshotReport[] {
    return [...this.#named].map(([name, named]) => reportOf(name, named))
  }

  /** @throws UNIMPLEMENTED on disk; RESOURCE_EXHAUSTED when there are too many */
  async take(name: string): Promise<SnapshotReport> {
    if (name.length > nameLengthMax)
      throw invalidArgument(`the name of a snapshot has at most ${nameLengthMax} characters`)
    const before = this.#named.get(name)
    if (before === undefined && this.#named.size >= snapshotsMax) {
      throw new DatastoreError('RESOURCE_EXHAUSTED', `there are ${snapshotsMax} snapshots already; delete one first`)
    }
    const taken = { snapshot: await this.#engine.snapshot(), takenAt: this.#clock.now().toISOString() }
    this.#named.delete(name)
    this.#named.set(name, taken)
    before?.snapshot.close()
    return reportOf(name, taken)
  }

  /** @throws NOT_FOUND */
  async restore(name: string): Promise<SnapshotReport> {
    const named = this.#find(name)
    await this.#engine.restore(named.snapshot)
    return reportOf(name, named)
  }

  /** @throws NOT_FOUND */
  delete(name: string): void {
    this.#find(name).snapshot.close()
    this.#named.delete(name)
  }

  clear(): void {
    for (const { snapshot } of this.#named.values()) snapshot.close()
    this.#named.clear()
  }

  #find(name: string): NamedSnapshot {
    const named = this.#named.get(name)
    if (named !== undefined) return named
    const names = [...this.#named.keys()]
    const there = names.length === 0 ? 'there are none' : `there is ${names.join(', ')}`
    throw new DatastoreError('NOT_FOUND', `there is no snapshot "${name}"; ${there}. POST ${path}/${name} takes one`)
  }
}

function reportOf(name: string, { snapshot, takenAt }: NamedSnapshot): SnapshotReport {
  return { name, rows: snapshot.rows, takenAt }
}

export function addSnapshotRoutes(router: Router, snapshots: Snapshots): void {
  const listed = (): RouteAnswer => ({ json: { snapshots: snapshots.list() } })
  router.add('GET', path, listed)
  router.add('POST', `${path}/{name}`, async ({ parameters: { name = '' } }) => ({ json: await snapshots.take(name) }))
  router.add('POST', `${path}/{name}/restore`, async ({ parameters: { name = '' } }) => ({
    json: await snapshots.restore(name),
  }))
  router.add('DELETE', path, () => {
    snapshots.clear()
    return listed()
  })
  router.add('DELETE', `${path}/{name}`, ({ parameters: { name = '' } }) => {
    snapshots.delete(name)
    return listed()
  })
}
