/** Clients of tables in the fake. A machine that stands still is never taken for a Bigtable that does: each call is waited for. */
import { credentials } from '@grpc/grpc-js'
import { type Scheduler, systemScheduler } from '@sixtables/engine'
import { patienceMs } from '../../../gateway/test/support/patience.ts'
import { TableClient } from '../../src/client/table-client.ts'
import type { BigtablePlace } from '../../src/client/table-place.ts'
import { GrpcTransport } from '../../src/client/transport.ts'
import { type BigtableRows, openBigtable } from '../../src/index.ts'
import { families } from '../../src/row-store/row-store.ts'
import type { FakeBigtable } from './fake-bigtable.ts'
import { FakeTable } from './fake-table.ts'
import { SleptTime } from './slept-time.ts'

export const project = 'demo'
export const instance = 'local'

export function placeOf(address: string, table: string): BigtablePlace {
  return { project, instance, table, emulator: address }
}

/** Opens a table, and makes it where it is missing. */
export function openPatiently(
  address: string,
  table: string,
  scheduler: Scheduler = systemScheduler,
): Promise<BigtableRows> {
  return openBigtable({ ...placeOf(address, table), timeoutMs: patienceMs, attemptMs: patienceMs, scheduler })
}

/**
 * A clock on which time passes only in sleeps, which take hardly any real time.
 *
 * @param steadyMs - its steady clock, by which a Bigtable is silent
 */
export function sleptScheduler(steadyMs: () => number = () => 0): Scheduler {
  let now = systemScheduler.nowMicros()
  return {
    nowMicros: () => now,
    steadyMs,
    defer: (task) => systemScheduler.defer(task),
    sleep: async (ms, signal) => {
      now += BigInt(Math.ceil(ms * 1000))
      await systemScheduler.sleep(1, signal, true)
    },
  }
}

/** Makes a table with the engine's families. */
export function tableOf(fake: FakeBigtable, name: string): FakeTable {
  const table = new FakeTable(new Map(families.map((family) => [family, {}])))
  fake.tables.set(`projects/${project}/instances/${instance}/tables/${name}`, table)
  return table
}

const transports = new Map<string, GrpcTransport>()

/**
 * The client waits in no real time between attempts.
 *
 * @param timeoutMs - the sum of these waits
 */
export function clientOf(fake: FakeBigtable, table: string, timeoutMs: number = patienceMs): TableClient {
  const address = fake.address
  let transport = transports.get(address)
  if (transport === undefined) {
    transport = new GrpcTransport({ address, credentials: credentials.createInsecure(), connections: 2 })
    transports.set(address, transport)
  }
  return new TableClient(placeOf(address, table), transport, new SleptTime(patienceMs), timeoutMs)
}
