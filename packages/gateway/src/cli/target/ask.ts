/**
 * The questions of `check` and `inspect`: over HTTP to a running server, or to a closed folder, which is opened here. Both give the reports of
 * admin/emulator/inspection.ts.
 */
import { DatastoreError, exportRemedy, parseKeyPath } from '@sixtables/engine'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import type { Flags } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { bigtablePlaceOf, isInBigtable } from './bigtable.ts'
import { projectOf } from './database.ts'
import { openFolder, openTable } from './local-target.ts'
import { wholeReport } from './pages.ts'
import { placeOf } from './places.ts'
import { remoteTarget } from './remote-target.ts'
import type { Target } from './target.ts'

/** The key and its partition as parameters. @throws UsageError for a wrong key */
export function keyParameters(flags: Flags, io: Io): Parameters {
  const key = String(flags['key'])
  try {
    parseKeyPath(key)
  } catch (error) {
    throw error instanceof DatastoreError ? new UsageError(error.message) : error
  }
  const [database, namespace] = [flags['database'], flags['namespace']].map((value) => String(value ?? ''))
  return { project: projectOf(flags, io.env), database, namespace, key }
}

/** Opens the target of the flags, asks it one question with all pages of the answer, and closes it. */
export async function askTarget(
  flags: Flags,
  io: Io,
  what: string,
  parameters: Parameters,
  onProgress?: (rows: number) => void,
): Promise<unknown> {
  const target = await openTarget(flags, io)
  try {
    if (onProgress !== undefined) return await target.ask(what, parameters, onProgress)
    return await wholeReport((...question) => target.ask(...question), what, parameters)
  } finally {
    await target.close()
  }
}

async function openTarget(flags: Flags, io: Io): Promise<Target> {
  if (isInBigtable(flags)) {
    checkAlone(flags)
    return await openTable(bigtablePlaceOf(flags, io.env))
  }
  const place = await placeOf(flags, io)
  return 'dir' in place ? openFolder(place.dir, { repairLog: flags['repair'] === true }) : remoteTarget(place.address)
}

/** Refuses flags that contradict `--store bigtable`, which is neither a folder nor behind a server. */
function checkAlone(flags: Flags): void {
  const other = ['endpoint', 'host-port', 'data-dir'].find((name) => flags[name] !== undefined)
  if (other !== undefined)
    throw new UsageError(`--store bigtable names a table and --${other} another place; give one of them`)
  if (flags['repair'] !== true) return
  throw new UsageError(`--repair does not go with --store bigtable, in which gateways write meanwhile; ${exportRemedy}`)
}
