/** Opens an engine for the command line. An unusable folder is one message. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatastoreError, type Engine, type EngineOptions, openEngine } from '@sixtables/engine'
import { findServer } from '../../emulator/server-file.ts'
import { UsageError } from '../framework/errors.ts'

/** Advice when a server has the folder open, for commands that may ask the server. */
const askInstead =
  'Stop that one, or use another folder. To ask the server that runs, leave --data-dir out, or give --endpoint instead.'

/**
 * @param whenInUse - advice when another process has the folder open
 * @throws UsageError for a folder that is in use, unreadable, damaged, or of another format
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

/** The process that has a folder open: the address of a server, or `another process`. */
async function userOf(dir: string): Promise<string> {
  const found = await findServer(dir)
  const server =
    found.state === 'running' ? ` (a sixtables server, process ${found.server.pid}, on ${found.server.address})` : ''
  return `another process has it open${server}`
}

/** Like {@link openStore}, for reading an existing store; waiting commits are not applied. */
export async function openClosedStore(
  dir: string,
  { repairLog }: Pick<EngineOptions, 'repairLog'> = {},
): Promise<Engine> {
  if (!existsSync(dir)) throw new UsageError(`there is no folder ${dir}`)
  const isStore = existsSync(join(dir, 'sixtables.json')) || existsSync(join(dir, 'rows'))
  if (!isStore) throw new UsageError(`there is no store in ${dir}`)
  return await openStore({ dir, rollForward: false, repairLog })
}

/** Does the work with the engine, and closes it. */
export async function closing<T>(opened: Promise<Engine>, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await opened
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}
