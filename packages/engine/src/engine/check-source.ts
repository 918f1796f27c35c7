/** How check/ reads the rows of a place as of one moment, and how it repairs them. */
import type { CheckSource } from '../check/checker.ts'
import { sharedRemedy } from '../check/report.ts'
import type { LocalParts } from '../database/place.ts'
import { unimplemented } from '../errors.ts'
import type { SharedDatabases } from '../shared/shared-databases.ts'

type PlaceSource = Pick<CheckSource, 'atOneMoment' | 'alone' | 'remedy'>

const noRepair = `index rows cannot be repaired where several gateways share the store; ${sharedRemedy}`

export function localSource({ kv, log }: LocalParts): PlaceSource {
  return {
    atOneMoment: async (work) => {
      const snapshot = kv.snapshot()
      return await work(snapshot).finally(() => snapshot.close())
    },
    alone: (task) =>
      Promise.resolve(
        log.exclusive(async () => {
          await log.quiesce()
          return await log.applier.alone(task)
        }),
      ),
  }
}

/** @throws UNIMPLEMENTED for a repair */
export function sharedSource(shared: SharedDatabases, isRepair: boolean): PlaceSource {
  if (isRepair) throw unimplemented(noRepair)
  return {
    atOneMoment: async (work) => await work((await shared.now()).rows),
    alone: () => Promise.reject(unimplemented(noRepair)),
    remedy: sharedRemedy,
  }
}
