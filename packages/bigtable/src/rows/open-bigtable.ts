/**
 * Opens a Bigtable table as the engine's store of rows, and creates one. Opening needs no more than roles/bigtable.user; only an
 * emulator's table is created on the way. A wrong set-up, such as a missing instance, is one DatastoreError with the remedy.
 */
import { type ChannelCredentials, credentials } from '@grpc/grpc-js'
import { type Scheduler, stopwatch, systemScheduler } from '@sixtables/engine'
import type { CallError } from '../client/call-error.ts'
import { defaultCredentials } from '../client/credentials.ts'
import { attemptMs, type Waiting } from '../client/retry.ts'
import { checkTable, createTable } from '../client/table-admin.ts'
import { TableClient } from '../client/table-client.ts'
import { adminAddress, type BigtablePlace, checkPlace, dataAddress, silenceRemedy } from '../client/table-place.ts'
import { GrpcTransport } from '../client/transport.ts'
import { BigtableRows } from './bigtable-rows.ts'
import { checkClock } from './server-clock.ts'

export interface BigtableOptions extends BigtablePlace {
  /** Default: the machine's clock. */
  readonly scheduler?: Scheduler | undefined
  /** Uniform in [0, 1); default Math.random. Spreads retries over time. */
  readonly random?: (() => number) | undefined
  /** Time for all attempts of a read or a repeated change; default 10,000. */
  readonly timeoutMs?: number | undefined
  /** Time limit of the first attempt; default 2,000. */
  readonly attemptMs?: number | undefined
  /** Whether the table of an emulator must exist; by default it is created. */
  readonly mustExist?: boolean | undefined
  /** Called once if the address of the emulator refuses connections at first, with advice; opening waits for it. */
  readonly onWaiting?: ((line: string) => void) | undefined
  /** Connections to the data API; default 4, and 1 to an emulator. */
  readonly connections?: number | undefined
}

/** Time for the first connection: an emulator that was started at the same moment takes seconds. */
const openingMs = 5_000

/** Opens the table. @throws DatastoreError for a set-up that cannot work */
export async function openBigtable(options: BigtableOptions): Promise<BigtableRows> {
  checkPlace(options)
  const { data, admin, waiting, timeoutMs, close } = await connect(options)
  try {
    const tables = { ...admin, waiting: tellingOf(options, waiting) }
    if (options.emulator !== undefined && options.mustExist !== true) await createTable(tables)
    await checkTable(tables)
    const client = new TableClient(options, data, waiting, timeoutMs)
    await client.tryCalls()
    const scheduler = options.scheduler ?? systemScheduler
    await checkClock(client, scheduler)
    return new BigtableRows(client, scheduler, close)
  } catch (error) {
    close()
    throw error
  }
}

/** Reports an emulator that does not listen yet. */
function tellingOf({ emulator, onWaiting, ...place }: BigtableOptions, waiting: Waiting): Waiting {
  if (emulator === undefined || onWaiting === undefined) return waiting
  let isTold = false
  const onAnswer = ({ message }: CallError): void => {
    if (isTold || !message.includes('ECONNREFUSED')) return
    isTold = true
    onWaiting(`nothing listens at ${emulator}, waiting for it; ${silenceRemedy({ ...place, emulator })}`)
  }
  return { ...waiting, onAnswer }
}

/**
 * Creates the table with its column families; needs roles/bigtable.admin.
 *
 * @returns false if it existed already with the right families
 */
export async function createBigtableTable(options: BigtableOptions): Promise<boolean> {
  checkPlace(options)
  const { admin, close } = await connect(options)
  try {
    const isNew = await createTable(admin)
    if (!isNew) await checkTable(admin)
    return isNew
  } finally {
    close()
  }
}

async function connect(options: BigtableOptions) {
  const { emulator, scheduler = systemScheduler, random = Math.random, timeoutMs = 10_000 } = options
  const waiting: Waiting = {
    attemptMs: options.attemptMs ?? attemptMs,
    stopwatch: () => {
      const passed = stopwatch(scheduler)
      return () => Number(passed()) / 1000
    },
    sleep: (ms) => scheduler.sleep(ms, undefined, true),
    random,
  }
  const calls = emulator === undefined ? { callCredentials: await defaultCredentials() } : {}
  const transport = (address: string, connections: number): GrpcTransport => {
    const channel: ChannelCredentials = emulator === undefined ? credentials.createSsl() : credentials.createInsecure()
    return new GrpcTransport({ address: emulator ?? address, credentials: channel, connections, ...calls })
  }
  const data = transport(dataAddress, options.connections ?? (emulator === undefined ? 4 : 1))
  const admin = transport(adminAddress, 1)
  return {
    data,
    admin: { place: options, transport: admin, waiting, timeoutMs: Math.min(timeoutMs, openingMs) },
    waiting,
    timeoutMs,
    close: () => {
      data.close()
      admin.close()
    },
  }
}
