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

import { setFlagsFromString } from 'node:v8'
import { DatastoreError } from '@sixtables/engine'
import { exportLine, formatEndpoint } from '../../../emulator/variables.ts'
import { failureLog } from '../../../logger.ts'
import { isLocalName } from '../../../protocols/guard.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodeOf, exitCodes, OperationError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import type { Endpoint } from '../../target/endpoint.ts'
import { lineLogger } from './logger.ts'
import { openServer } from './open-server.ts'
import { type StartSettings, startSettings } from './settings.ts'

/** Signals within this time after the first are ignored. */
const sameSignalMs = 300

/** Runs the emulator until it is stopped. */
export async function start(flags: Flags, io: Io): Promise<number> {
  const settings = startSettings(flags, io)
  const logger = lineLogger({ level: settings.logLevel, write: (line) => io.err(line) })

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
    if (settings.dataDir !== undefined) keepHeapSmall()
    const server = await openServer(settings, logger, stop)
    growYoungAtOnce()
    keepYoungApart()
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
 * Makes V8 collect garbage earlier. With the data on disk, most of V8's heap is garbage: with 100,000 entities loaded, the process has 204 MiB
 * instead of 270 (measured), for some more time in the collector. A store in memory fills the heap with rows, where frequent collections
 * would cost too much.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=40')
}

/**
 * Lets V8's space of young objects grow to its full 16 MiB in one step. By default V8 shrinks it in every idle moment, and doubles it only when
 * enough objects have survived collections. Calls leave few survivors, so for seconds after each pause the space would be collected
 * every hundred calls. Measured after pauses of 8 s: docs/performance.md.
 */
function growYoungAtOnce(): void {
  setFlagsFromString('--semi-space-growth-factor=16')
}

/**
 * Stops V8 from allocating some new objects as old ones. V8 does so for places in the code whose objects once survived a collection. A load of
 * many entities makes it do so for the lists of every later commit, which fill the old space with garbage. Without it an upsert takes a
 * third less time and 50 MiB less memory (measured, docs/decisions/0015-steps-to-speed.md).
 */
function keepYoungApart(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/** A warning if other machines can reach the server. */
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
