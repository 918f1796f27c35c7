/**
 * What `check` and `inspect` look at: a running server, asked over HTTP, or a closed folder, opened here. Both answer the
 * questions of admin/inspection.ts with the same reports.
 */
import { resolve } from 'node:path'
import { DatastoreError } from '@sixtables/engine'
import type { Parameters } from '../admin/inspection.ts'
import { parseKeyPath } from '../admin/key-syntax.ts'
import type { Flags } from './command.ts'
import { formatEndpoint, parseEndpoint } from './endpoint.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { openFolder } from './local-target.ts'
import { remoteTarget } from './remote-target.ts'
import { projectOf } from './settings.ts'

export interface Target {
  /** @throws OperationError with the reason in words */
  ask(what: string, parameters: Parameters): Promise<unknown>
  close(): Promise<void>
}

/** The key that was asked for and where it lives, as parameters. @throws UsageError when it cannot be read */
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

/** Opens what the flags point at, asks it one question, and closes it again. */
export async function askTarget(flags: Flags, io: Io, what: string, parameters: Parameters): Promise<unknown> {
  const target = await openTarget(flags, io)
  try {
    return await target.ask(what, parameters)
  } finally {
    await target.close()
  }
}

async function openTarget(flags: Flags, io: Io): Promise<Target> {
  const place = placeOf(flags, io)
  return 'dir' in place ? openFolder(place.dir, { repairLog: flags['repair'] === true }) : remoteTarget(place.address)
}

/** What the flags point at: a folder by its absolute path, or a server by `host:port`. */
export function placeOf(flags: Flags, io: Io): { readonly dir: string } | { readonly address: string } {
  const { endpoint, 'data-dir': dataDir } = flags
  if (dataDir !== undefined && endpoint !== undefined) {
    throw new UsageError('--data-dir opens a folder and --endpoint asks a server; give one of them')
  }
  if (dataDir !== undefined) return { dir: resolve(io.cwd, String(dataDir)) }
  return { address: addressOfServer(flags, io) }
}

/** `host:port` of `--endpoint`, else of DATASTORE_EMULATOR_HOST, else the default. */
export function addressOfServer({ endpoint }: Flags, io: Io): string {
  if (endpoint !== undefined) return formatEndpoint(parseEndpoint(String(endpoint), '--endpoint'))
  const fromEnv = io.env['DATASTORE_EMULATOR_HOST'] ?? ''
  return formatEndpoint(parseEndpoint(fromEnv, 'DATASTORE_EMULATOR_HOST'))
}
