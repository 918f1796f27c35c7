/** The API suite through two gateways in turn, on one table of a Bigtable. */
import { type Engine, openEngine } from '@sixtables/engine'
import { startGateway } from '@sixtables/gateway'
import { apiContract, type TestServer } from '../../../gateway/test/contract/api.contract.ts'
import type { ApiClient, OpenClient } from '../../../gateway/test/support/api-client.ts'
import { engineClient } from '../../../gateway/test/support/engine-client.ts'
import { openJsonClient } from '../../../gateway/test/support/http-clients.ts'
import { openNodeClient } from '../../../gateway/test/support/node-client.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { openPatiently } from './fake-client.ts'

/** A Bigtable to test on. */
export interface Served {
  readonly address: string
  close(): Promise<void>
}

let gateways = 0

/** An engine of its own on a table. */
export async function openSharedEngine(address: string, table: string): Promise<Engine> {
  const rows = await openPatiently(address, table)
  return await openEngine({ store: severalGateways({ rows, gateway: ++gateways }) })
}

/** Calls go to the clients in turn. */
function inTurn(clients: readonly ApiClient[]): ApiClient {
  let calls = 0
  const next = (): ApiClient => clients[calls++ % clients.length] as ApiClient
  return {
    write: (...args) => next().write(...args),
    remove: (...args) => next().remove(...args),
    read: (...args) => next().read(...args),
    query: (...args) => next().query(...args),
    allocate: (...args) => next().allocate(...args),
    close: async () => {
      for (const client of clients) await client.close()
    },
  }
}

const clients: Readonly<Record<string, OpenClient>> = {
  'the public Node client': openNodeClient,
  'HTTP JSON': openJsonClient,
}

/** @param all - with every client; else with the public one alone */
export function apiOverTwoGateways(where: string, serve: () => Promise<Served>, all: boolean): void {
  let engines: readonly Engine[]
  let ports: readonly number[]
  const openServer = async (): Promise<TestServer> => {
    const bigtable = await serve()
    engines = [await openSharedEngine(bigtable.address, 'api'), await openSharedEngine(bigtable.address, 'api')]
    const gateways = await Promise.all(engines.map((engine) => startGateway({ engine, host: '127.0.0.1', port: 0 })))
    ports = gateways.map(({ port }) => port)
    return {
      host: '127.0.0.1',
      port: ports[0] ?? 0,
      empty: async () => engines[0]?.reset(),
      async close() {
        for (const gateway of gateways) await gateway.close()
        for (const engine of engines) await engine.close()
        await bigtable.close()
      },
    }
  }
  if (all) {
    apiContract(`two engines in this process, ${where}`, openServer, async () => inTurn(engines.map(engineClient)))
  }
  for (const [client, open] of Object.entries(clients).slice(0, all ? 2 : 1)) {
    apiContract(`${client} through two gateways, ${where}`, openServer, async ({ host }) =>
      inTurn(await Promise.all(ports.map((port) => open({ host, port })))),
    )
  }
}
