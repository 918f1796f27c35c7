/**
 * What `check` and `inspect` look at: a running server, asked over HTTP, or a closed folder, opened here. Both give the same
 * reports (reports.ts).
 *
 *   GET  /emulator/inspect/{rows,log}?project=&database=&namespace=&key=     GET /emulator/inspect/pending
 *   POST /emulator/inspect/release?…&milestone=                             POST /emulator/inspect/check?repair=
 */
import { resolve } from 'node:path'
import { formatEndpoint, parseEndpoint } from './endpoint.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { parseKeyPath } from './key-syntax.ts'
import { openFolder } from './local-target.ts'
import { remoteTarget } from './remote-target.ts'
import type { CheckReport, LogReport, PendingReport, ReleaseReport, RowsReport } from './reports.ts'
import { type Flags, projectOf } from './settings.ts'

/** A key as it was typed, and the partition it is looked for in. */
export interface TypedKey {
  readonly project: string
  /** Empty for the default database. */
  readonly database: string
  /** Empty for the default namespace. */
  readonly namespace: string
  /** Root first, as key-syntax.ts reads it. */
  readonly path: string
}

export interface Target {
  check(options: { readonly repair: boolean }): Promise<CheckReport>
  rows(key: TypedKey): Promise<RowsReport>
  log(key: TypedKey): Promise<LogReport>
  pending(): Promise<PendingReport>
  release(key: TypedKey, milestone: 'A' | 'B'): Promise<ReleaseReport>
  close(): Promise<void>
}

/** The key that was asked for. @throws UsageError when it cannot be read */
export function keyOf(flags: Flags, io: Io): TypedKey {
  const path = String(flags['key'])
  parseKeyPath(path)
  return {
    project: projectOf(flags, io.env),
    database: String(flags['database'] ?? '').replace(/^\(default\)$/, ''),
    namespace: String(flags['namespace'] ?? ''),
    path,
  }
}

/** Opens what the flags point at, asks it, and closes it again. */
export async function withTarget<Report>(
  flags: Flags,
  io: Io,
  ask: (target: Target) => Promise<Report>,
): Promise<Report> {
  const target = await openTarget(flags, io)
  try {
    return await ask(target)
  } finally {
    await target.close()
  }
}

async function openTarget(flags: Flags, io: Io): Promise<Target> {
  const { endpoint, 'data-dir': dataDir } = flags
  if (dataDir !== undefined && endpoint !== undefined) {
    throw new UsageError('--data-dir opens a folder and --endpoint asks a server; give one of them')
  }
  if (dataDir !== undefined) return openFolder(resolve(io.cwd, String(dataDir)))
  if (endpoint !== undefined) return remoteTarget(formatEndpoint(parseEndpoint(String(endpoint), '--endpoint')))
  const fromEnv = io.env['DATASTORE_EMULATOR_HOST'] ?? ''
  return remoteTarget(formatEndpoint(parseEndpoint(fromEnv, 'DATASTORE_EMULATOR_HOST')))
}
