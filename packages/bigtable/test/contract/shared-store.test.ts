/** A store that several gateways share: the calls of admin and emulator that need one process are refused, and keys that no Bigtable takes. */
import { exportRemedy, MovableClock, openEngine, systemScheduler } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenClient } from '../../../gateway/test/support/api-client.ts'
import { openJsonClient, openProtobufClient } from '../../../gateway/test/support/http-clients.ts'
import { openNodeClient } from '../../../gateway/test/support/node-client.ts'
import { type Served, serve } from '../../../gateway/test/support/server-parts.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { MemoryRows } from '../../src/row-store/memory-rows.ts'

let served: Served
let address: { readonly host: string; readonly port: number }
let closeEngine: () => Promise<void>

beforeAll(async () => {
  const scheduler = new MovableClock(systemScheduler)
  const engine = await openEngine({ store: severalGateways({ rows: new MemoryRows(), gateway: 1 }), scheduler })
  closeEngine = () => engine.close()
  served = await serve({ engine, scheduler, dir: undefined, project: 'demo', host: '127.0.0.1', port: 0 })
  address = { host: '127.0.0.1', port: served.gateway.port }
})
afterAll(async () => {
  await served.close()
  await closeEngine()
})

const settings = '/emulator/v1/projects/demo/databases/(default)/settings'

const heldCommits =
  'a store that several gateways share has no held commits: each is applied at once. Use a store of one process for this.'

/** Operations of the Firestore API answer 200, with the error in them. */
describe('a call that needs a store of one process is refused, with what to do instead', () => {
  test.each([
    ['POST', '/emulator/inspect/release', undefined, 501, heldCommits],
    ['POST', '/emulator/inspect/release?project=demo&key=K:1&milestone=A', undefined, 501, heldCommits],
    ['POST', '/emulator/faults', { code: 'UNAVAILABLE' }, 501, 'stop a gateway'],
    ['POST', '/emulator/faults', { holdApply: true }, 501, 'stop a gateway'],
    ['POST', '/emulator/clock', { advanceMs: 60_000 }, 501, 'wait'],
    ['POST', '/emulator/snapshots/a', undefined, 501, 'export the entities'],
    ['POST', '/emulator/snapshots/a/restore', undefined, 404, 'there is no snapshot'],
    ['POST', '/emulator/inspect/check?repair=true', undefined, 501, exportRemedy],
    ['PATCH', settings, { concurrencyMode: 'PESSIMISTIC' }, 400, 'use optimistic'],
    ['PATCH', settings, { jobPolicy: { manualJobPolicy: true } }, 400, 'applies at once'],
    ['PATCH', settings, { mode: 'legacy' }, 400, '--mode'],
    [
      'PATCH',
      '/v1/projects/demo/databases/(default)?updateMask=concurrencyMode',
      { concurrencyMode: 'PESSIMISTIC' },
      200,
      'use optimistic',
    ],
    [
      'POST',
      '/v1/projects/demo/databases?databaseId=other',
      { type: 'DATASTORE_MODE', concurrencyMode: 'PESSIMISTIC' },
      200,
      'use optimistic',
    ],
  ] as const)('%s %s %j', async (method, path, body, status, instead) => {
    const response = await fetch(`http://127.0.0.1:${address.port}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { readonly error?: { readonly message: string } }
    expect({ status: response.status, said: answer.error?.message }).toEqual({
      status,
      said: expect.stringContaining(instead),
    })
  })
})

const long = 'n'.repeat(1400)
const clients: readonly (readonly [string, OpenClient])[] = [
  ['gRPC', openNodeClient],
  ['HTTP JSON', openJsonClient],
  ['HTTP protobuf', openProtobufClient],
]

test.each(clients)(
  'by %s a row key above 4,096 bytes is INVALID_ARGUMENT, and nothing waits for it',
  async (_, open) => {
    const client = await open(address)
    const refused = (path: readonly string[], properties: Readonly<Record<string, string>>, remedy: string) =>
      expect(client.write('upsert', [{ path, properties }])).rejects.toMatchObject({
        code: 3,
        message: expect.stringMatching(`row key of \\d+ bytes.*at most 4096: ${remedy}`),
      })
    await refused(['K', long, 'K', long, 'K', long], {}, 'use shorter names in the key')
    await refused(['K', long, 'K', long], { a: long }, 'shorten the indexed value')
    expect(await client.query({ kind: 'K' })).toMatchObject({ entities: [] })
    await client.close()
  },
)
