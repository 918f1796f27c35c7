/**
 * Opening an engine from the command line: a folder that cannot be used becomes one line.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatastoreError, type Engine, type EngineOptions, openEngine } from '@sixtables/engine'
import { findServer } from '../../emulator/server-file.ts'
import { UsageError } from '../framework/errors.ts'

/** The advice of commands that may ask a server as well, where one has the folder open. */
const askInstead =
  'Stop that one, or use another folder. To ask the server that runs, leave --data-dir out, or give --endpoint instead.'

/**
 * @param whenInUse - the advice where another process has the folder open
 * @throws UsageError when the folder is in use, not readable, damaged, or of another format
 */
export async function openStore(options: EngineOptions, whenInUse: string = askInstead): Promise<Engine> {
  try {
    return await openEngine(options)
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    const isInUse = error.code === 'UNAVAILABLE' && options.dir !== undefined
    throw new UsageError(
      isInUse
        ? `the data folder ${options.dir} cannot be opened: ${await userOf(options.dir)}. ${whenInUse}`
        : error.message.charAt(0).toLowerCase() + error.message.slice(1),
    )
  }
}

/** The process that has a folder open, by its address where it is a server. */
async function userOf(dir: string): Promise<string> {
  const found = await findServer(dir)
  const server =
    found.state === 'running' ? ` (a sixtables server, process ${found.server.pid}, on ${found.server.address})` : ''
  return `another process has it open${server}`
}

/** As {@link openStore}, for a look at a store that must be there already; what waits to be applied is left waiting. */
export async function openClosedStore(
  dir: string,
  { repairLog }: Pick<EngineOptions, 'repairLog'> = {},
): Promise<Engine> {
  if (!existsSync(dir)) throw new UsageError(`there is no folder ${dir}`)
  const isStore = existsSync(join(dir, 'sixtables.json')) || existsSync(join(dir, 'rows'))
  if (!isStore) throw new UsageError(`there is no store in ${dir}`)
  return await openStore({ dir, rollForward: false, repairLog })
}
