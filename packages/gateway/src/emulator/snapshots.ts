/**
 * Named snapshots of a whole store in memory, over HTTP, for tests in other processes and languages.
 *
 *   POST   /emulator/snapshots/{name}            keeps the current data; replaces a snapshot of that name
 *   POST   /emulator/snapshots/{name}/restore    replaces all data by that of the snapshot, any number of times
 *
 * A call that fails changes no snapshot. They last as long as the server. A store on disk answers UNIMPLEMENTED, with the alternatives
 * (engine-snapshot.ts).
 */
import { DatastoreError, type Engine, type EngineSnapshot, invalidArgument, notFound } from '@sixtables/engine'
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
  readonly takenAt: string
}

export function addSnapshotRoutes(router: Router, engine: Engine, clock: EmulatorClock): void {
  /** By name, the oldest first. */
  const snapshots = new Map<string, NamedSnapshot>()
  const listed = (): RouteAnswer => ({
    json: { snapshots: [...snapshots].map(([name, named]) => reportOf(name, named)) },
  })
  const find = (name: string): NamedSnapshot => {
    const named = snapshots.get(name)
    if (named !== undefined) return named
    const there = snapshots.size === 0 ? 'there are none' : `there is ${[...snapshots.keys()].join(', ')}`
    throw notFound(`there is no snapshot "${name}"; ${there}. POST ${path}/${name} takes one`)
  }
  router.add('GET', path, listed)
  router.add('POST', `${path}/{name}`, async ({ parameters: { name = '' } }) => {
    if (name.length > nameLengthMax)
      throw invalidArgument(`the name of a snapshot has at most ${nameLengthMax} characters`)
    const before = snapshots.get(name)
    if (before === undefined && snapshots.size >= snapshotsMax) {
      throw new DatastoreError('RESOURCE_EXHAUSTED', `there are ${snapshotsMax} snapshots already; delete one first`)
    }
    const taken = { snapshot: await engine.snapshot(), takenAt: clock.now().toISOString() }
    snapshots.delete(name)
    snapshots.set(name, taken)
    before?.snapshot.close()
    return { json: reportOf(name, taken) }
  })
  router.add('POST', `${path}/{name}/restore`, async ({ parameters: { name = '' } }) => {
    const named = find(name)
    await engine.restore(named.snapshot)
    return { json: reportOf(name, named) }
  })
  router.add('DELETE', path, () => {
    for (const { snapshot } of snapshots.values()) snapshot.close()
    snapshots.clear()
    return listed()
  })
  router.add('DELETE', `${path}/{name}`, ({ parameters: { name = '' } }) => {
    find(name).snapshot.close()
    snapshots.delete(name)
    return listed()
  })
}

function reportOf(name: string, { snapshot, takenAt }: NamedSnapshot): SnapshotReport {
  return { name, rows: snapshot.rows, takenAt }
}
