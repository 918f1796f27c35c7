/** The services beside the data API, over gRPC and REST, on a real engine. */
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { registry } from '../../src/protocols/descriptors.ts'
import { grpcClient, type TestGateway, testGateway } from '../support/gateway.ts'
import type { GrpcClient } from '../support/grpc-client.ts'

const admin = 'google.datastore.admin.v1.DatastoreAdmin'
const operations = 'google.longrunning.Operations'

const ordered = {
  kind: 'Task',
  ancestor: 'NONE',
  properties: [
    { name: 'done', direction: 'ASCENDING' },
    { name: 'due', direction: 'DESCENDING' },
  ],
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
type Answer = any

let engine: Engine
let gateway: TestGateway
let client: GrpcClient

beforeEach(async () => {
  engine = await openEngine()
  gateway = await testGateway(engine)
  client = await grpcClient(gateway)
})

afterEach(() => engine.close())

async function rpc(service: string, method: string, request: JsonValue): Promise<Answer> {
  const descriptor = registry.getService(service)?.methods.find(({ name }) => name === method)
  if (descriptor === undefined) throw new Error(`no descriptor of ${method}`)
  const message = toBinary(descriptor.input, fromJson(descriptor.input, request, { registry }))
  const { status, message: error, body } = await client.call(`/${service}/${method}`, Buffer.from(message))
  if (status !== 0) return { status, error }
  return toJson(descriptor.output, fromBinary(descriptor.output, body), { registry })
}

async function rest(verb: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(gateway.url + path, {
    method: verb,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return response.json()
}

async function put(count: number): Promise<void> {
  const mutations = [...Array(count).keys()].map((i) => ({
    upsert: {
      key: { path: [{ kind: 'Task', id: i + 1 }] },
      properties: { done: { booleanValue: false }, due: { integerValue: i } },
    },
  }))
  const { error } = await rest('POST', '/v1/projects/p:commit', { mode: 'NON_TRANSACTIONAL', mutations })
  expect(error).toBeUndefined()
}

describe('DatastoreAdmin over gRPC', () => {
  test('an index is created by an operation, found, listed, and deleted by another', async () => {
    await put(3)
    const { name, metadata } = await rpc(admin, 'CreateIndex', { projectId: 'p', index: ordered })
    expect(name).toMatch(/^projects\/p\/operations\/[0-9a-f]+$/)
    expect(metadata).toMatchObject({
      '@type': 'type.googleapis.com/google.datastore.admin.v1.IndexOperationMetadata',
      common: { operationType: 'CREATE_INDEX' },
      indexId: '1',
    })
    const index = { projectId: 'p', indexId: '1', ...ordered, state: 'READY' }
    expect(await rpc(operations, 'WaitOperation', { name, timeout: '120s' })).toMatchObject({
      done: true,
      metadata: { common: { state: 'SUCCESSFUL' }, progressEntities: { workCompleted: '3', workEstimated: '3' } },
      response: { '@type': 'type.googleapis.com/google.datastore.admin.v1.Index', ...index },
    })
    expect(await rpc(admin, 'GetIndex', { projectId: 'p', indexId: '1' })).toEqual(index)
    expect(await rpc(admin, 'ListIndexes', { projectId: 'p' })).toEqual({ indexes: [index] })
    expect(await rpc(admin, 'ListIndexes', { projectId: 'q' })).toEqual({})
    const deletion = await rpc(admin, 'DeleteIndex', { projectId: 'p', indexId: '1' })
    expect(await rpc(operations, 'WaitOperation', { name: deletion.name })).toMatchObject({
      metadata: { common: { operationType: 'DELETE_INDEX', state: 'SUCCESSFUL' } },
      response: { indexId: '1', state: 'DELETING' },
    })
    expect(await rpc(admin, 'GetIndex', { projectId: 'p', indexId: '1' })).toMatchObject({ status: 5 })
    expect((await rpc(operations, 'ListOperations', { name: 'projects/p' })).operations).toHaveLength(2)
  })

  test('an index that is there is not created again', async () => {
    await rpc(admin, 'CreateIndex', { projectId: 'p', index: ordered })
    expect(await rpc(admin, 'CreateIndex', { projectId: 'p', index: ordered })).toMatchObject({ status: 6 })
  })

  test.each<[string, JsonValue, string]>([
    ['no index', { projectId: 'p' }, 'no index'],
    ['no ancestor mode', { projectId: 'p', index: { ...ordered, ancestor: 0 } }, 'index.ancestor is missing'],
    ['no direction', { projectId: 'p', index: { ...ordered, properties: [{ name: 'a' }] } }, 'properties[0].direction'],
    [
      'a single property',
      { projectId: 'p', index: { ...ordered, properties: [{ name: 'a', direction: 'ASCENDING' }] } },
      'built in',
    ],
    ['no project', { index: ordered }, 'project'],
  ])('an index with %s is refused', async (_what, request, why) => {
    const { status, error } = await rpc(admin, 'CreateIndex', request)
    expect(status).toBe(3)
    expect(error).toContain(why)
  })

  test('building is watched by progress, cannot be deleted meanwhile, and can be cancelled', async () => {
    await put(3000)
    const { name, metadata } = await rpc(admin, 'CreateIndex', { projectId: 'p', index: ordered })
    expect(metadata.common.state).toBe('PROCESSING')
    const [state, deletion] = await Promise.all([
      rpc(admin, 'GetIndex', { projectId: 'p', indexId: '1' }),
      rpc(admin, 'DeleteIndex', { projectId: 'p', indexId: '1' }),
    ])
    expect(state.state).toBe('CREATING')
    expect(deletion).toMatchObject({ status: 9 })
    expect(await rpc(operations, 'CancelOperation', { name })).toEqual({})
    expect(await rpc(operations, 'WaitOperation', { name })).toMatchObject({
      error: { code: 1 },
      metadata: { common: { state: 'CANCELLED' } },
    })
    expect(engine.database('p').catalogue.serving).toEqual([])
    expect(await rpc(operations, 'DeleteOperation', { name })).toEqual({})
    expect(await rpc(operations, 'GetOperation', { name })).toMatchObject({ status: 5 })
  })

  test('lists come in pages', async () => {
    for (const name of ['a', 'b', 'c']) {
      const properties = [...ordered.properties, { name, direction: 'ASCENDING' }]
      await rpc(admin, 'CreateIndex', { projectId: 'p', index: { ...ordered, properties } })
    }
    const first = await rpc(admin, 'ListIndexes', { projectId: 'p', pageSize: 2 })
    expect(first.indexes.map(({ indexId }: Answer) => indexId)).toEqual(['1', '2'])
    const rest = await rpc(admin, 'ListIndexes', { projectId: 'p', pageToken: first.nextPageToken })
    expect(rest.indexes.map(({ indexId }: Answer) => indexId)).toEqual(['3'])
    expect(rest.nextPageToken).toBeUndefined()
  })

  test('an unknown method and an unknown service are told apart', async () => {
    const call = (path: string) => client.call(path, Buffer.alloc(0))
    expect(await call(`/${admin}/Undo`)).toMatchObject({
      status: 12,
      message: expect.stringContaining('no method "Undo"'),
    })
    expect(await call('/a.B/C')).toMatchObject({ status: 12, message: expect.stringContaining(admin) })
    expect(await client.call(`/${admin}/GetIndex`, Buffer.from([0xff]))).toMatchObject({ status: 3 })
  })
})

describe('DatastoreAdmin over REST', () => {
  test('has the same calls under the project', async () => {
    await put(2)
    const { name } = await rest('POST', '/v1/projects/p/indexes', ordered)
    expect(await rest('POST', `/v1/${name}:wait`, {})).toMatchObject({ done: true, response: { state: 'READY' } })
    const index = { projectId: 'p', indexId: '1', ...ordered, state: 'READY' }
    expect(await rest('GET', '/v1/projects/p/indexes?alt=json&pageSize=10')).toEqual({ indexes: [index] })
    expect(await rest('GET', '/v1/projects/p/indexes/1')).toEqual(index)
    expect(await rest('GET', '/v1/projects/p/operations?filter=done%3Dtrue')).toMatchObject({ operations: [{ name }] })
    expect(await rest('GET', `/v1/${name}`)).toMatchObject({ done: true })
    expect(await rest('POST', `/v1/${name}:cancel`, {})).toEqual({})
    expect(await rest('DELETE', '/v1/projects/p/indexes/1')).toMatchObject({ metadata: { indexId: '1' } })
    expect(await rest('GET', '/v1/projects/p/indexes/nr')).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
    expect(await rest('POST', '/v1/projects/p/indexes', { kindness: 1 })).toMatchObject({ error: { code: 400 } })
  })

  test('knows the calls of the Firestore API for databases in Datastore mode', async () => {
    await put(2)
    const all = '/v1/projects/p/databases/(default)/collectionGroups/-/indexes'
    const body = {
      queryScope: 'COLLECTION_RECURSIVE',
      apiScope: 'DATASTORE_MODE_API',
      fields: [
        { fieldPath: 'due', order: 'ASCENDING' },
        { fieldPath: '__name__', order: 'DESCENDING' },
      ],
    }
    expect(await rest('GET', all)).toEqual({ indexes: [] })
    const { name, metadata } = await rest('POST', all.replace('-', 'Task'), body)
    expect(name).toMatch(/^projects\/p\/databases\/\(default\)\/operations\//)
    const index = 'projects/p/databases/(default)/collectionGroups/Task/indexes/1'
    expect(metadata.index).toBe(index)
    expect(await rest('POST', `/v1/${name}:wait`, {})).toMatchObject({
      done: true,
      response: { name: index, ...body, state: 'READY' },
    })
    // Over gRPC that API has no descriptors here: the operation comes without what it says of the index.
    expect(await rpc(operations, 'GetOperation', { name })).toEqual({ name, done: true })
    expect(await rest('GET', all)).toMatchObject({ indexes: [{ name: index, ...body }] })
    expect(await rest('GET', all.replace('-', 'Other'))).toEqual({ indexes: [] })
    expect(await rest('GET', `/v1/${index}`)).toMatchObject({ name: index })
    expect(await rest('GET', '/v1/projects/p/indexes')).toMatchObject({
      indexes: [{ ancestor: 'ALL_ANCESTORS', properties: [{ name: 'due' }, { name: '__key__' }] }],
    })
    expect(await rest('DELETE', `/v1/${index}`)).toEqual({})
    expect(await rest('POST', all, body)).toMatchObject({ error: { code: 400 } })
    expect(await rest('POST', all.replace('-', 'Task'), { ...body, apiScope: 'ANY_API' })).toMatchObject({
      error: { code: 400 },
    })
  })

  test('keeps the indexes of other databases apart', async () => {
    const path = '/v1/projects/p/databases/d/collectionGroups/Task/indexes'
    const fields = ['due', 'done'].map((fieldPath) => ({ fieldPath, order: 'ASCENDING' }))
    await rest('POST', path, { queryScope: 'COLLECTION_GROUP', apiScope: 'DATASTORE_MODE_API', fields })
    expect((await rest('GET', path)).indexes).toHaveLength(1)
    expect(await rest('GET', '/v1/projects/p/indexes')).toEqual({ indexes: [] })
    expect(engine.database('p', 'd').catalogue.all).toHaveLength(1)
  })
})

describe('/v1/config', () => {
  test('shows the policies and replaces those it is given, in all databases', async () => {
    expect(await rest('GET', '/v1/config')).toEqual({
      jobPolicy: { forceStrongConsistency: true },
      idAllocationPolicy: { policy: 'SCATTERED' },
    })
    const before = engine.database('p')
    const probabilityJobPolicy = { randomSeed: '9223372036854775807', unappliedJobPercentage: 10 }
    expect(await rest('PATCH', '/v1/config', { jobPolicy: { probabilityJobPolicy } })).toEqual({
      jobPolicy: { probabilityJobPolicy },
      idAllocationPolicy: { policy: 'SCATTERED' },
    })
    await rest('PATCH', '/v1/config', { idAllocationPolicy: { policy: 'SEQUENTIAL' } })
    for (const { settings } of [before, engine.database('new')]) {
      expect(settings).toMatchObject({ applyPolicy: { type: 'probability', chance: 0.9 }, idPolicy: 'storewide' })
    }
    await fetch(`${gateway.url}/reset`, { method: 'POST' })
    expect((await rest('GET', '/v1/config')).idAllocationPolicy).toEqual({ policy: 'SEQUENTIAL' })
  })

  test.each([{ manualJobPolicy: true }, { timeJobPolicy: { delayMs: 50 } }, { timeJobPolicy: {} }])(
    'knows %j too',
    async (jobPolicy) => {
      expect(await rest('PATCH', '/v1/config', { jobPolicy })).toMatchObject({ jobPolicy })
    },
  )

  test('equal seeds and calls give equal visibility', async () => {
    const visible = async (): Promise<readonly number[]> => {
      const probabilityJobPolicy = { randomSeed: '42', unappliedJobPercentage: 50 }
      await rest('PATCH', '/v1/config', { jobPolicy: { probabilityJobPolicy } })
      await put(40)
      const counts: number[] = []
      for (let i = 0; i < 3; i++) {
        const { batch } = await rest('POST', '/v1/projects/p:runQuery', { query: { kind: [{ name: 'Task' }] } })
        counts.push(batch.entityResults?.length ?? 0)
      }
      await fetch(`${gateway.url}/reset`, { method: 'POST' })
      return counts
    }
    const first = await visible()
    expect(first[0]).toBeLessThan(40)
    expect(await visible()).toEqual(first)
  })

  test.each<[unknown, string]>([
    [{ policies: {} }, 'no member "policies"'],
    [{ jobPolicy: {} }, 'it has one'],
    [{ jobPolicy: { forceStrongConsistency: false } }, 'must be true'],
    [{ jobPolicy: { luckyJobPolicy: true } }, 'no job policy "luckyJobPolicy"'],
    [{ jobPolicy: { probabilityJobPolicy: { unappliedJobPercentage: 101 } } }, '0 to 100'],
    [{ jobPolicy: { probabilityJobPolicy: { randomSeed: 'x' } } }, 'a whole number'],
    [{ idAllocationPolicy: { policy: 'random' } }, 'SEQUENTIAL or SCATTERED'],
    [{ jobPolicy: { manualJobPolicy: true }, idAllocationPolicy: {} }, 'SEQUENTIAL or SCATTERED'],
  ])('refuses %j and changes nothing', async (config, why) => {
    const { error } = await rest('PATCH', '/v1/config', config)
    expect(error).toMatchObject({ code: 400, message: expect.stringContaining(why) })
    expect((await rest('GET', '/v1/config')).jobPolicy).toEqual({ forceStrongConsistency: true })
  })
})
