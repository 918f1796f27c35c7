/** Clients of tables in the fake, which wait in no real time between attempts. */
import { credentials } from '@grpc/grpc-js'
import { families } from '@sixtables/engine'
import type { BigtablePlace } from '../../src/client/place.ts'
import type { Waiting } from '../../src/client/retry.ts'
import { TableClient } from '../../src/client/table-client.ts'
import { GrpcTransport } from '../../src/client/transport.ts'
import type { FakeBigtable } from './fake-bigtable.ts'
import { FakeTable } from './fake-table.ts'
import { SleptTime } from './slept-time.ts'

export const project = 'demo'
export const instance = 'local'

export function placeOf(address: string, table: string): BigtablePlace {
  return { project, instance, table, emulator: address }
}

/** Makes a table with the engine's families. */
export function tableOf(fake: FakeBigtable, name: string): FakeTable {
  const table = new FakeTable(new Map(families.map((family) => [family, {}])))
  fake.tables.set(`projects/${project}/instances/${instance}/tables/${name}`, table)
  return table
}

const transports = new Map<string, GrpcTransport>()

export function clientOf(fake: FakeBigtable, table: string, time: Waiting = new SleptTime()): TableClient {
  const address = fake.address
  let transport = transports.get(address)
  if (transport === undefined) {
    transport = new GrpcTransport({ address, credentials: credentials.createInsecure(), connections: 2 })
    transports.set(address, transport)
  }
  return new TableClient(placeOf(address, table), transport, time, 10_000)
}
