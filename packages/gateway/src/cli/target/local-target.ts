/**
 * A closed folder, opened for `check` and `inspect`. Nothing is applied by opening it, so that what waits can be seen.
 */
import { DatastoreError } from '@sixtables/engine'
import { inspect } from '../../admin/emulator/inspection.ts'
import { OperationError } from '../framework/errors.ts'
import { openClosedStore } from './open-store.ts'
import type { Target } from './target.ts'

/** @param dir - absolute path of the data folder */
export async function openFolder(dir: string, { repairLog }: { readonly repairLog: boolean }): Promise<Target> {
  const engine = await openClosedStore(dir, { repairLog })
  return {
    async ask(what, parameters, onProgress) {
      try {
        return await inspect(engine, what, parameters, { onProgress })
      } catch (error) {
        throw error instanceof DatastoreError ? new OperationError(error.message) : error
      }
    },
    close: () => engine.close(),
  }
}
