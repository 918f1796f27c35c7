/**
 * `sixtables start`: opens the store, listens, prints the lines that scripts wait for, and stops cleanly.
 *
 *   API endpoint: http://127.0.0.1:8081                          Known: scripts, SDKs and test containers look for these
 *     export DATASTORE_EMULATOR_HOST=127.0.0.1:8081              three; the last one is printed only once the port
 *   Dev App Server is now running.                               answers.
 *
 * SIGINT, SIGTERM and POST /shutdown close the port, then the store, and end with exit code 0. A second signal ends at once, with the exit code of
 * the signal. Under npm one Ctrl-C arrives twice, from the terminal and from npm, so the second must be at least 300 ms later.
 */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { DatastoreError, makeFolder } from '@sixtables/engine'
import { exportLine, formatEndpoint } from '../../../emulator/variables.ts'
import { failureLog, type Logger } from '../../../logger.ts'
import { isLocalName } from '../../../protocols/guard.ts'
import type { Flags, Io } from '../../framework/command.ts'
import { exitCodeOf, exitCodes, OperationError, UsageError } from '../../framework/errors.ts'
import type { Endpoint } from '../../target/endpoint.ts'
import { openServer } from './open-server.ts'
import { type StartSettings, startSettings } from './settings.ts'
import { type LogLevel, logLevels } from './start-flags.ts'

/** Signals within this time after the first are ignored. */
const sameSignalMs = 300

export async function start(flags: Flags, io: Io): Promise<number> {
  const settings = startSettings(flags, io)
  const logger = lineLogger(settings.logLevel, (line) => io.err(line))

  let stop = (): void => {}
  const stopAsked = new Promise<void>((resolve) => {
    stop = resolve
  })
  let firstSignalAt: number | undefined
  const release = io.onSignal((signal) => {
    logger.info(`${signal} received`)
    firstSignalAt ??= io.now()
    if (io.now() - firstSignalAt > sameSignalMs) io.exit(exitCodeOf(signal))
    stop()
  })
  const told = failureLog(logger)
  const releaseFaults = io.onFault((error) => {
    told(error)
    // A failed store is reported to every caller; after any other error the state is unknown.
    if (!(error instanceof DatastoreError)) io.exit(exitCodes.failed)
  })
  try {
    // With data on disk most of V8's heap is garbage: 204 MiB instead of 270 for 100,000 entities (measured). In memory it is rows.
    if (settings.dataDir !== undefined) setFlagsFromString('--heap-growing-percent=40')
    const server = await openServer(settings, logger, stop)
    tuneCollector()
    // Printed here, because before a refusal of the start notes would only distract.
    for (const note of settings.notes) io.err(`sixtables: ${note}`)
    announce(server.endpoint, settings, io)
    await stopAsked
    for (const line of await server.close()) io.err(`sixtables: ${line}`)
    if (server.storeFailure === undefined) return exitCodes.ok
    throw new OperationError(server.storeFailure.message)
  } finally {
    releaseFaults()
    release()
  }
}

/**
 * Sets V8's collector for a server whose calls leave few objects that survive (measured: docs/performance.md and
 * docs/decisions/0015-steps-to-speed.md).
 */
function tuneCollector(): void {
  // Young objects may fill 16 MiB at once. By default V8 shrinks their space in each idle moment, and grows it again over seconds.
  setFlagsFromString('--semi-space-growth-factor=16')
  // Without this a load of many entities makes V8 allocate the lists of every later commit as old objects: an upsert takes 50 % longer.
  setFlagsFromString('--no-allocation-site-pretenuring')
}

function openedTo({ host, port }: Endpoint): string | undefined {
  if (isLocalName(host)) return undefined
  const addresses = host === '0.0.0.0' || host === '::' ? 'all addresses of this machine' : host
  return (
    `Open on port ${port} of ${addresses}: every machine that reaches it can read, change and delete all data. ` +
    'Pages of other sites and requests for unknown host names are refused (--allowed-origin, --allowed-host).'
  )
}

function placeOfData({ dataDir, bigtable }: StartSettings): string {
  if (bigtable === undefined) return dataDir === undefined ? 'Data is kept in memory.' : `Data is kept in ${dataDir}`
  const { project, instance, table, emulator } = bigtable
  const where = emulator === undefined ? '' : `, emulator at ${emulator}`
  return `Data is kept in the Bigtable table ${table} (instance ${instance}, project ${project}${where})`
}

function announce(endpoint: Endpoint, settings: StartSettings, io: Io): void {
  const { console, mode, project, clock } = settings
  const address = formatEndpoint(endpoint)
  io.out(`sixtables, ${mode === 'legacy' ? 'as legacy Datastore' : 'as Firestore in Datastore mode'}.`)
  io.out(placeOfData(settings))
  if (clock !== undefined) {
    io.out(`The clock stands at ${new Date(clock).toISOString()}; POST /emulator/clock and waits move it.`)
  }
  const opened = openedTo(endpoint)
  if (opened !== undefined) io.out(opened)
  if (console) io.out(`Console: http://${address}/console/`)
  io.out(`API endpoint: http://${address}`)
  io.out('Client libraries find it by:')
  io.out(`  export DATASTORE_EMULATOR_HOST=${address}`)
  io.out(`  ${exportLine('DATASTORE_PROJECT_ID', project)}`)
  io.out('  export METADATA_SERVER_DETECTION=none')
  io.out('Dev App Server is now running.')
}

/** Makes a data folder, for start scripts of another emulator. */
export async function create(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['directory']))
  await makeFolder(dir).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`the folder ${dir} cannot be made (${error.code ?? error.message})`)
  })
  if (!existsSync(dir)) throw new UsageError(`the folder ${dir} cannot be made: it is a link to nothing`)
  if (!statSync(dir).isDirectory()) throw new UsageError(`the folder ${dir} cannot be made: it is a file`)
  io.out(`${dir} is there; to go on: sixtables start ${String(flags['directory'])}`)
  return exitCodes.ok
}

/**
 * The server's log: one line for each event of at least `level`. Further lines of a message are indented, so that it looks like one event.
 *
 *   2030-01-31T12:00:00.000Z warn  the message
 */
export function lineLogger(level: LogLevel, write: (line: string) => void, now = (): Date => new Date()): Logger {
  const highest = logLevels.indexOf(level)
  const at = (own: LogLevel) => (message: string) => {
    if (logLevels.indexOf(own) > highest) return
    write(`${now().toISOString()} ${own.padEnd(5)} ${message.replaceAll('\n', '\n    ')}`)
  }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}
