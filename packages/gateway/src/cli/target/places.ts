/** The place of a command's data: a server with its address, or a folder; and its project, database and namespace. */
import { resolve } from 'node:path'
import type { PartitionId } from '@sixtables/engine'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import { databaseIdOf } from '../../convert/parameters.ts'
import { type FoundServer, findServer, type ServerFacts } from '../../emulator/server-file.ts'
import { formatEndpoint, projectDefault } from '../../emulator/variables.ts'
import type { Flags, Io } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import { last, text } from '../framework/flag-values.ts'
import { parseEndpoint } from './endpoint.ts'

/** A server by `host:port`, or a folder by its absolute path, with what is known of its server. */
export type Place = { readonly dir: string; readonly found?: FoundServer } | { readonly address: string }

/** The target of the flags: a folder, or the server of `--endpoint`, `--host-port`, DATASTORE_EMULATOR_HOST or the default. */
export function namedPlace(flags: Flags, io: Io): Place {
  const [dataDir, endpoint, hostPort] = ['data-dir', 'endpoint', 'host-port'].map((name) => text(flags, name))
  if (dataDir !== undefined) {
    const other = endpoint !== undefined ? 'endpoint' : hostPort !== undefined ? 'host-port' : undefined
    if (other !== undefined) throw new UsageError(`--data-dir names a folder and --${other} a server; give one of them`)
    return { dir: resolve(io.cwd, dataDir) }
  }
  if (endpoint !== undefined && hostPort !== undefined) {
    throw new UsageError('--endpoint and --host-port are the same; give one of them')
  }
  if (endpoint !== undefined) return { address: formatEndpoint(parseEndpoint(endpoint, '--endpoint')) }
  if (hostPort !== undefined) return { address: formatEndpoint(parseEndpoint(hostPort, '--host-port')) }
  const fromEnv = io.env['DATASTORE_EMULATOR_HOST'] ?? ''
  return { address: formatEndpoint(parseEndpoint(fromEnv, 'DATASTORE_EMULATOR_HOST')) }
}

/** Like {@link namedPlace}, but for a folder with a running server, that server. */
export async function placeOf(flags: Flags, io: Io): Promise<Place> {
  const named = namedPlace(flags, io)
  if ('address' in named) return named
  const found = await findServer(named.dir)
  return found.state === 'running' ? { address: found.server.address } : { ...named, found }
}

/** A server, with the facts in its folder's server file. @throws UsageError for a folder without a running server */
export async function serverOf(flags: Flags, io: Io): Promise<Pick<ServerFacts, 'address'> & Partial<ServerFacts>> {
  const named = namedPlace(flags, io)
  if ('address' in named) return named
  const found = await findServer(named.dir)
  if (found.state === 'running') return found.server
  throw new UsageError(whyNone(named.dir, found))
}

export const startOrName = 'start one with sixtables start, or name another with --endpoint'

export function whyNone(dir: string, found: Exclude<FoundServer, { readonly state: 'running' }>): string {
  const start = `start one with sixtables start --data-dir ${dir}`
  if (found.state === 'none') return `no server has left its address in ${dir}: none keeps its data there now; ${start}`
  const { address, pid, startedAt } = found.server
  const who = `process ${pid}, started ${startedAt}; ${found.reason}`
  return `the server that left its address ${address} in ${dir} is gone (${who}); ${start}`
}

/** The project of `--project`, or of DATASTORE_PROJECT_ID, or of its old name DATASTORE_DATASET, or the default. */
export function projectOf(flags: Flags, env: Io['env']): string {
  const named = text(flags, 'project') ?? text(flags, 'project-id')
  return named ?? (env['DATASTORE_PROJECT_ID'] || env['DATASTORE_DATASET'] || projectDefault)
}

/** The database of `--database`; empty for the default one. */
export function databaseOf(flags: Flags): string {
  return databaseIdOf(String(last(flags['database']) ?? ''))
}

export function partitionOf(flags: Flags, env: Io['env']): PartitionId {
  const namespaceId = String(flags['namespace'] ?? '')
  return { projectId: projectOf(flags, env), databaseId: databaseOf(flags), namespaceId }
}

/** `project demo, database d, namespace n`, without default parts. */
export function placeInWords({ project, database, namespace }: Parameters): string {
  const parts = [`project ${project}`]
  if (database) parts.push(`database ${database}`)
  if (namespace) parts.push(`namespace ${namespace}`)
  return parts.join(', ')
}
