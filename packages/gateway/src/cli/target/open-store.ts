/**
 * Opening an engine from the command line: a folder that cannot be used becomes one line.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatastoreError, type Engine, type EngineOptions, openEngine } from '@sixtables/engine'
import { UsageError } from '../framework/errors.ts'

/** Said by commands that may ask a server as well, where one has the folder open. */
export const askInstead = 'To ask the server that runs, leave --data-dir out, or give --endpoint instead.'

/**
 * @param whenInUse - added to what is said where another process has the folder open
 * @throws UsageError when the folder is in use, not readable, damaged, or of another format
 */
export async function openStore(options: EngineOptions, whenInUse?: string): Promise<Engine> {
  try {
    return await openEngine(options)
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    const said = error.message.charAt(0).toLowerCase() + error.message.slice(1)
    const isInUse = error.code === 'UNAVAILABLE' && whenInUse !== undefined
    throw new UsageError(isInUse ? `${said} ${whenInUse}` : said)
  }
}

/** As {@link openStore}, for a look at a store that must be there already; what waits to be applied is left waiting. */
export async function openClosedStore(
  dir: string,
  { repairLog }: Pick<EngineOptions, 'repairLog'> = {},
): Promise<Engine> {
  if (!existsSync(dir)) throw new UsageError(`there is no folder ${dir}`)
  const isStore = existsSync(join(dir, 'sixtables.json')) || existsSync(join(dir, 'rows'))
  if (!isStore) throw new UsageError(`there is no store in ${dir}`)
  return await openStore({ dir, rollForward: false, repairLog }, askInstead)
}
