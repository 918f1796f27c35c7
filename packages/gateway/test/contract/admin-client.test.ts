/** The public admin client, unchanged, against gateway and engine: it waits for operations in its own way. */
import { createRequire } from 'node:module'
import { v1 } from '@google-cloud/datastore'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'

// gRPC's credentials are made by the client's own copy of it.
const clientRequire = createRequire(createRequire(import.meta.url).resolve('@google-cloud/datastore'))
const { grpc } = clientRequire('google-gax') as { grpc: { credentials: { createInsecure(): never } } }

const index = {
  kind: 'Task',
  ancestor: 'NONE' as const,
  properties: [
    { name: 'done', direction: 'ASCENDING' as const },
    { name: 'due', direction: 'DESCENDING' as const },
  ],
}

let engine: Engine
let admin: InstanceType<typeof v1.DatastoreAdminClient>

beforeEach(async () => {
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  engine = await openEngine()
  const { port } = await testGateway(engine)
  admin = new v1.DatastoreAdminClient({
    servicePath: '127.0.0.1',
    port,
    projectId: 'p',
    sslCreds: grpc.credentials.createInsecure(),
  })
})

afterEach(async () => {
  await admin.close()
  await engine.close()
})

test('indexes are created and deleted by operations that the client waits for', async () => {
  const [creation] = await admin.createIndex({ projectId: 'p', index })
  const [created] = await creation.promise()
  // The client leaves enums of an operation's response as numbers: READY.
  expect(created).toMatchObject({ kind: 'Task', indexId: '1', state: 2 })
  const [listed] = await admin.listIndexes({ projectId: 'p' })
  expect(listed).toMatchObject([{ kind: 'Task', indexId: '1', state: 'READY' }])
  const [deletion] = await admin.deleteIndex({ projectId: 'p', indexId: '1' })
  await deletion.promise()
  await expect(admin.getIndex({ projectId: 'p', indexId: '1' })).rejects.toMatchObject({ code: 5 })
})

test('operations are asked about by name', async () => {
  const [creation] = await admin.createIndex({ projectId: 'p', index })
  await creation.promise()
  const operation = await admin.checkCreateIndexProgress(String(creation.name))
  expect(operation).toMatchObject({ done: true, metadata: { indexId: '1' }, result: { kind: 'Task' } })
})
