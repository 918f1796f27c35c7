/** The rows of a store of one process at one moment, for check/, and the way to repair them. */
import type { LocalParts } from '../database/local-parts.ts'
import type { PlaceSource } from './store-port.ts'

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
