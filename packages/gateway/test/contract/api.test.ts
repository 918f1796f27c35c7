/** The API in this process and over each protocol, on each store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, openEngine } from '@sixtables/engine'
import { startGateway } from '../../src/emulator/server.ts'
import type { OpenClient } from '../support/api-client.ts'
import { engineClient } from '../support/engine-client.ts'
import { openJsonClient, openProtobufClient } from '../support/http-clients.ts'
import { openNodeClient } from '../support/node-client.ts'
import { apiContract, type TestServer } from './api.contract.ts'

async function openServer(dir: string | undefined): Promise<TestServer & { readonly engine: Engine }> {
  const engine = await openEngine({ dir })
  const gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  return {
    engine,
    host: '127.0.0.1',
    port: gateway.port,
    empty: () => engine.reset(),
    async close() {
      await gateway.close()
      await engine.close()
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
    },
  }
}

const stores: Readonly<Record<string, () => string | undefined>> = {
  'in memory': () => undefined,
  'on disk': () => mkdtempSync(join(tmpdir(), 'sixtables-api-')),
}

const clients: Readonly<Record<string, OpenClient>> = {
  'the public Node client over gRPC': openNodeClient,
  'HTTP JSON': openJsonClient,
  'HTTP protobuf': openProtobufClient,
}

for (const [store, folder] of Object.entries(stores)) {
  let engine: Engine
  const openHere = async (): Promise<TestServer> => {
    const server = await openServer(folder())
    engine = server.engine
    return server
  }
  apiContract(`the engine in this process, ${store}`, openHere, async () => engineClient(engine))
  for (const [client, open] of Object.entries(clients)) {
    apiContract(`${client}, ${store}`, () => openServer(folder()), open)
  }
}
