/** Opens engine and gateway as one server. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { DatastoreError, EngineOptions, Scheduler } from '@sixtables/engine'
import { callLine, summaryOf } from '../../../calls/call-summary.ts'
import type { CallReport } from '../../../calls/calls.ts'
import { recordedLines } from '../../../calls/recording.ts'
import { movableClock } from '../../../controls/emulator-clock.ts'
import { listenTrouble } from '../../../emulator/listen-trouble.ts'
import { indexFileTrouble, type Served, serve } from '../../../emulator/serve.ts'
import { failureLog, type Logger } from '../../../logger.ts'
import { reasonOf } from '../../../reason.ts'
import { UsageError } from '../../framework/errors.ts'
import { addCommandRoute } from '../../page/command-route.ts'
import { runInThread } from '../../page/page-threads.ts'
import { storeInBigtable } from '../../target/bigtable.ts'
import type { Endpoint } from '../../target/endpoint.ts'
import { openStore } from '../../target/open-store.ts'
import { createRecording } from '../../target/recording-file.ts'
import { addressOf, type BigtableSetting, type StartSettings } from './settings.ts'
import { exportAtExit, importAtStart } from './start-transfer.ts'

export interface Server {
  /** The actual address; its port is never 0. */
  readonly endpoint: Endpoint
  /** The error with which the store refuses writes, after one has failed. */
  readonly storeFailure: DatastoreError | undefined
  /** Stops listening, then closes the store. @returns lines for the user about final work, such as an export */
  close(): Promise<readonly string[]>
}

/** @param onShutdown - called by POST /shutdown. @throws UsageError for an unusable folder or address */
export async function openServer(settings: StartSettings, logger: Logger, onShutdown: () => void): Promise<Server> {
  const { bigtable, dataDir: dir, indexFile, needsIndexFile: mustExist } = settings
  const named = { name: '--index-file', mustExist, dir }
  const trouble = indexFile === false ? undefined : indexFileTrouble(indexFile, named, logger)
  if (trouble !== undefined) throw new UsageError(trouble)
  await checkPort(settings)
  const scheduler = movableClock(settings.clock)
  const told = failureLog(logger)
  const store = bigtable === undefined ? undefined : await bigtableStore(bigtable, scheduler, logger)
  const onIndexFileTrouble = (trouble: string): void => logger.warn(trouble)
  const options = { ...settings, scheduler, store, dir, onIndexFileTrouble, onBackgroundFailure: told }
  const engine = await openStore(options, { advice: 'Stop that one, or choose another folder with --data-dir.' })
  engine.store.onFailure?.((failure, recovery = `${engine.store.location} can be used again`) => {
    told(failure)
    if (failure === undefined) logger.warn(recovery)
  })
  if (settings.idPolicy !== undefined) engine.configure({ idPolicy: settings.idPolicy })
  let served: Served
  let endRecording: (() => Promise<string>) | undefined
  try {
    // The indexes of index.yaml must be ready for the first query.
    const known = new Set([...engine.databases(), engine.database(settings.project).keep()])
    for (const database of known) await engine.indexes.deploy(database)
    await importAtStart(engine, settings)
    const onCall =
      settings.logLevel === 'debug' ? (report: CallReport) => logger.debug(callLine(summaryOf(report))) : undefined
    served = await serve({
      ...settings,
      ...{ engine, dir, scheduler, logger, onShutdown, onCall },
      addRoutes: (router, facts) => addCommandRoute(router, facts, runInThread),
    })
    endRecording = settings.record === undefined ? undefined : await beginRecording(settings.record, served, logger)
  } catch (error) {
    await engine.close()
    throw await listenError(error, addressOf(settings))
  }
  return {
    endpoint: { host: served.gateway.host, port: served.gateway.port },
    get storeFailure() {
      return engine.store.failure
    },
    async close() {
      await served.close()
      const recorded = await endRecording?.()
      try {
        await exportAtExit(engine, settings)
      } finally {
        await engine.close()
      }
      return recorded === undefined ? [] : [recorded]
    },
  }
}

async function bigtableStore(
  bigtable: BigtableSetting,
  scheduler: Scheduler,
  logger: Logger,
): Promise<EngineOptions['store']> {
  const { project, instance, table } = bigtable
  const resetRefusal =
    `a reset deletes data of the Bigtable table ${table} (instance ${instance}, project ${project}); start the gateway with ` +
    '--allow-reset to consent'
  return await storeInBigtable(bigtable, {
    scheduler,
    onWaiting: (line) => logger.warn(line),
    resetRefusal: bigtable.allowReset ? undefined : resetRefusal,
  })
}

/** Reports a port in use before the data folder is created. */
async function checkPort(settings: StartSettings): Promise<void> {
  const { host, port } = addressOf(settings)
  const probe = createServer()
  try {
    await once(probe.listen({ host, port }), 'listening')
  } catch (error) {
    throw await listenError(error, { host, port })
  }
  probe.close()
  await once(probe, 'close')
}

const remedies = { port: '--port', host: '--host 127.0.0.1, or --host-port 127.0.0.1:8081' }

/** @returns a UsageError for an address that is not available, and any other error as it is */
async function listenError(error: unknown, endpoint: Endpoint): Promise<unknown> {
  const trouble = await listenTrouble(error, endpoint, remedies)
  return trouble === undefined ? error : new UsageError(trouble)
}

/**
 * Begins the recording of `--record` before clients learn the address, so that no call is missed. If the file cannot be written later, the recording ends and the
 * server continues.
 *
 * @param path - a file that does not exist yet
 * @returns a function that ends the recording, and resolves with a line about it
 * @throws UsageError, after closing the server, for a file that exists or cannot be written
 */
async function beginRecording(path: string, served: Served, logger: Logger): Promise<() => Promise<string>> {
  const stop = new AbortController()
  const lines = recordedLines(served.calls, { values: false }, stop.signal)
  const header = lines.next()
  const whenThere = 'delete it, or name another file for --record'
  const file = await createRecording(path, { force: false, whenThere }).catch(async (error: unknown) => {
    await lines.return(undefined)
    await served.close()
    throw error
  })
  const write = async (): Promise<void> => {
    await file.write((await header).value ?? [])
    for await (const batch of lines) await file.write(batch)
  }
  const written = write().catch((error: unknown) => {
    logger.warn(`the recording in ${path} broke off: ${reasonOf(error)}`)
  })
  return async () => {
    stop.abort()
    await written
    return await file.close()
  }
}
