/**
 * `sixtables start`: opens the store, listens, says so in the lines that scripts wait for, and stops cleanly.
 *
 *   API endpoint: http://127.0.0.1:8081                          Known: scripts, SDKs and test containers look for these
 *     export DATASTORE_EMULATOR_HOST=127.0.0.1:8081              three; the last one is printed only once the port
 *   Dev App Server is now running.                               answers.
 *
 * SIGINT, SIGTERM and POST /shutdown close the port, then the store, and end with exit code 0; a second signal ends at once,
 * with its own exit code.
 * Under npm one Ctrl-C arrives twice, from the terminal and from npm, so the second must come a moment later.
 */

import { setFlagsFromString } from 'node:v8'
import { DatastoreError } from '@sixtables/engine'
import { exportLine } from '../../../emulator/variables.ts'
import { failureLog } from '../../../logger.ts'
import { isLocalName } from '../../../protocols/guard.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodeOf, exitCodes, OperationError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { type Endpoint, formatEndpoint } from '../../target/endpoint.ts'
import { lineLogger } from './logger.ts'
import { openServer } from './open-server.ts'
import { type StartSettings, startSettings } from './settings.ts'

/** Signals this near to the first are taken for the same wish. */
const sameSignalMs = 300

/** Runs the emulator until it is told to stop. */
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
    const server = await openServer({ settings, logger, onShutdown: stop })
    growYoungAtOnce()
    keepYoungApart()
    // Only now: of a start that is refused, the refusal is all that counts.
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
 * With the data on disk little stays in V8's heap, and most of what it takes is garbage that it is in no hurry to collect.
 * Measured, 100,000 entities loaded: 204 MiB of the process instead of 270, for some more time in the collector. In memory
 * the heap is full of rows, and to go through it more often would cost too much.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=40')
}

/**
 * V8 makes the space of young objects small whenever a process has nothing to do, and doubles it when as much as it holds has
 * survived collections. Calls leave little behind, so for seconds after each pause it stays small, and is collected every hundred
 * calls. From here on it grows to its full 16 MiB in one step. Measured after pauses of 8 s: docs/performance.md.
 */
function growYoungAtOnce(): void {
  setFlagsFromString('--semi-space-growth-factor=16')
}

/**
 * V8 puts objects of places in the code whose objects once outlived a collection among the old ones from then on. A load of
 * many entities teaches it so for the lists of every commit, which later die at once and fill the old space with garbage.
 * Measured, in docs/decisions/0015-steps-to-speed.md: an upsert costs a third less without, in 50 MiB less.
 */
function keepYoungApart(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/** A warning when others than this machine can reach the server. */
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
