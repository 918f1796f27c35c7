/**
 * A closed folder, opened for `check` and `inspect`. Nothing is applied by opening it, so that what waits can be seen.
 */

import { inspect } from '../../admin/emulator/inspection.ts'
import { openClosedStore } from './open-store.ts'
import { refusalOf } from './refusal.ts'
import type { Target } from './target.ts'

/** @param dir - absolute path of the data folder */
export async function openFolder(dir: string, { repairLog }: { readonly repairLog: boolean }): Promise<Target> {
  const engine = await openClosedStore(dir, { repairLog })
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
