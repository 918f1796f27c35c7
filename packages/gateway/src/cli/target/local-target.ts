/**
 * A store without a server, for `check` and `inspect`: a closed folder, whose waiting commits stay unapplied so that they can be
 * seen; or a table of a Bigtable, beside its gateways.
 */
import type { Engine } from '@sixtables/engine'
import { inspect } from '../../admin/emulator/inspection.ts'
import { type BigtablePlace, storeInBigtable } from './bigtable.ts'
import { openClosedStore, openStore } from './open-store.ts'
import { refusalOf } from './refusal.ts'
import type { Target } from './target.ts'

/** @param dir - absolute path of the data folder */
export async function openFolder(dir: string, { repairLog }: { readonly repairLog: boolean }): Promise<Target> {
  return targetOf(await openClosedStore(dir, { repairLog }))
}

export async function openTable(place: BigtablePlace): Promise<Target> {
  return targetOf(await openStore({ store: await storeInBigtable(place, { mustExist: true }) }))
}

function targetOf(engine: Engine): Target {
  return {
    async ask(what, parameters, onProgress) {
      try {
        return await inspect(engine, what, parameters, { onProgress })
      } catch (error) {
        throw refusalOf(error)
      }
    },
    close: () => engine.close(),
  }
}
