/**
 * Export and import over the wire: the endpoints of both of Google's emulators, DatastoreAdmin by the public Node client,
 * operations, and an export of Google's emulator that comes back in JSON as that emulator had it.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { v1 } from '@google-cloud/datastore'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'

const fixtures = fileURLToPath(new URL('../../../engine/test/fixtures/export-legacy/', import.meta.url))
const suffix = '.overall_export_metadata'

let folder: string
let engine: Engine
let gateway: Gateway
let made = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-transfer-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  engine = await openEngine({ dir: join(folder, `data-${made++}`) })
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  await gateway.close()
  await engine.close()
})

interface Answer {
  readonly status: number
  readonly json: {
    readonly name?: string
    readonly done?: boolean
    readonly response?: { readonly outputUrl?: string }
    readonly outputUrl?: string
    readonly entities?: string
    readonly operations?: readonly { readonly name: string }[]
    readonly error?: { readonly status: string; readonly message: string }
  }
}

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as Answer['json'] }
}

async function put(project: string, ...ids: readonly number[]): Promise<void> {
  const mutations = ids.map((id) => ({ upsert: { key: { path: [{ kind: id % 2 ? 'Odd' : 'Even', id }] } } }))
  expect((await call('POST', `/v1/projects/${project}:commit`, { mode: 'NON_TRANSACTIONAL', mutations })).status).toBe(
    200,
  )
}

async function ids(project: string, databaseId = ''): Promise<readonly string[]> {
  const answer = await call('POST', `/v1/projects/${project}:runQuery`, {
    databaseId,
    partitionId: { databaseId },
    query: {},
  })
  const { batch } = answer.json as { batch: { entityResults?: { entity: { key: { path: { id: string }[] } } }[] } }
  return (batch.entityResults ?? []).map(({ entity }) => entity.key.path[0]?.id ?? '').sort()
}

describe('the endpoints of the Datastore emulator', () => {
  test('an export answers a finished operation with its metadata file, which an import takes', async () => {
    await put('p', 1, 2, 3)
    const outputUrlPrefix = join(folder, `out-${made++}`)
    const { status, json } = await call('POST', '/v1/projects/p:export', { outputUrlPrefix, labels: { a: 'b' } })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      name: expect.stringMatching(/^projects\/p\/operations\/[0-9a-f]{32}$/),
      done: true,
      metadata: {
        '@type': 'type.googleapis.com/google.datastore.admin.v1.ExportEntitiesMetadata',
        common: { operationType: 'EXPORT_ENTITIES', state: 'SUCCESSFUL', labels: { a: 'b' } },
        progressEntities: { workCompleted: '3' },
        outputUrlPrefix,
      },
      response: { '@type': 'type.googleapis.com/google.datastore.admin.v1.ExportEntitiesResponse' },
    })
    const [name = ''] = readdirSync(outputUrlPrefix)
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d_\d{3}$/)
    expect(json.response?.outputUrl).toBe(join(outputUrlPrefix, name, `${name}${suffix}`))
    const imported = await call('POST', '/v1/projects/q:import', { inputUrl: json.response?.outputUrl })
    expect(imported.json).toMatchObject({
      done: true,
      metadata: {
        '@type': 'type.googleapis.com/google.datastore.admin.v1.ImportEntitiesMetadata',
        common: { operationType: 'IMPORT_ENTITIES', state: 'SUCCESSFUL' },
        progressEntities: { workCompleted: '3', workEstimated: '3' },
      },
      response: { '@type': 'type.googleapis.com/google.protobuf.Empty' },
    })
    expect(await ids('q')).toEqual(['1', '2', '3'])
  })

  test('a filter chooses kinds and namespaces', async () => {
    await put('p', 1, 2, 3)
    const outputUrlPrefix = join(folder, `out-${made++}`)
    const entityFilter = { kinds: ['Odd'], namespaceIds: [''] }
    const { json } = await call('POST', '/v1/projects/p:export', { outputUrlPrefix, entityFilter })
    await call('POST', '/v1/projects/odd:import', { inputUrl: json.response?.outputUrl })
    expect(await ids('odd')).toEqual(['1', '3'])
  })

  test('a gs:// place is a folder below the data folder, which many exports share', async () => {
    await put('p', 1)
    const first = await call('POST', '/v1/projects/p:export', { outputUrlPrefix: 'gs://bucket/daily' })
    const outputUrl = first.json.response?.outputUrl ?? ''
    expect(outputUrl).toMatch(/^gs:\/\/bucket\/daily\/[^/]+\/[^/]+\.overall_export_metadata$/)
    expect(
      readFileSync(join(engine.store.location, 'buckets', outputUrl.slice('gs://'.length))).length,
    ).toBeGreaterThan(50)
    await call('POST', '/v1/projects/q:import', { inputUrl: outputUrl })
    expect(await ids('q')).toEqual(['1'])
    const second = await call('POST', '/v1/projects/p:export', { outputUrlPrefix: 'gs://bucket/daily' })
    expect(second.status).toBe(200)
    expect(readdirSync(join(engine.store.location, 'buckets', 'bucket', 'daily')).length).toBe(2)
  })

  test('the folder of an export can be imported in the place of its metadata file', async () => {
    await put('p', 5)
    const outputUrlPrefix = join(folder, `out-${made++}`)
    await call('POST', '/v1/projects/p:export', { outputUrlPrefix })
    expect((await call('POST', '/v1/projects/q:import', { inputUrl: outputUrlPrefix })).status).toBe(200)
    expect(await ids('q')).toEqual(['5'])
  })

  test.each([
    ['a folder that exists', 'export', () => ({ outputUrlPrefix: folder }), 'INVALID_ARGUMENT', 'exists already'],
    ['no folder', 'export', () => ({}), 'INVALID_ARGUMENT', 'output_url_prefix is empty'],
    ['a bucket without a name', 'export', () => ({ outputUrlPrefix: 'gs://' }), 'INVALID_ARGUMENT', 'names no bucket'],
    [
      'a way out of a bucket',
      'export',
      () => ({ outputUrlPrefix: 'gs://b/../../x' }),
      'INVALID_ARGUMENT',
      'name of a folder',
    ],
    ['another kind of place', 'export', () => ({ outputUrlPrefix: 's3://b' }), 'INVALID_ARGUMENT', 'only gs:// places'],
    ['a member that is none', 'export', () => ({ outputUrl: 'x' }), 'INVALID_ARGUMENT', 'outputUrl'],
    ['a file that is not there', 'import', () => ({ inputUrl: join(folder, `x${suffix}`) }), 'NOT_FOUND', 'no file'],
    [
      'a folder without an export',
      'import',
      () => ({ inputUrl: fixtures.slice(0, -1) }),
      'INVALID_ARGUMENT',
      'several exports',
    ],
  ] as const)('%s is refused', async (_what, method, body, code, words) => {
    const { status, json } = await call('POST', `/v1/projects/p:${method}`, body())
    expect(json.error).toMatchObject({ status: code, message: expect.stringContaining(words) })
    expect(status).toBe(code === 'NOT_FOUND' ? 404 : 400)
  })

  test('a damaged export is an error of the call, and a failed operation', async () => {
    const broken = join(folder, `broken-${made++}${suffix}`)
    writeFileSync(broken, 'this is no export')
    const { status, json } = await call('POST', '/v1/projects/p:import', { inputUrl: broken })
    expect(status).toBe(400)
    expect(json.error?.message).toContain(`${broken} is damaged at byte 0`)
    const { operations } = (await call('GET', '/v1/projects/p/operations?filter=done=true')).json
    expect(operations).toMatchObject([{ done: true, error: { code: 3 }, metadata: { common: { state: 'FAILED' } } }])
  })
})

test('an export of the Datastore emulator comes back in JSON as the emulator had it', async () => {
  const inputUrl = join(fixtures, 'all', `all${suffix}`)
  expect((await call('POST', '/v1/projects/p:import', { inputUrl })).status).toBe(200)
  const lines = readFileSync(join(fixtures, 'entities.jsonl'), 'utf8').trim().split('\n')
  const entities = lines.map((line) => JSON.parse(line) as { key: unknown })
  expect(entities.length).toBe(62)
  const { json } = await call('POST', '/v1/projects/p:lookup', { keys: entities.map(({ key }) => key) })
  const { found = [] } = json as { found?: readonly { entity: unknown }[] }
  // By the last element of their paths, which differ.
  const byPath = (entity: unknown): [string, unknown] => {
    const { kind, id, name } = (entity as { key: { path: Record<string, string>[] } }).key.path.at(-1) ?? {}
    return [`${kind} ${id ?? ''} ${name ?? ''}`, entity]
  }
  expect(found.length).toBe(62)
  expect(new Map(found.map(({ entity }) => byPath(entity)))).toEqual(new Map(entities.map(byPath)))
})

describe('the endpoints of the Firestore emulator', () => {
  test('an export goes into a named folder, and its metadata file or folder is imported', async () => {
    await put('p', 1, 2)
    const directory = join(folder, `fse-${made++}`)
    mkdirSync(directory)
    const place = { export_directory: directory, export_name: 'named' }
    const exported = await call('POST', '/emulator/v1/projects/p:export', {
      database: 'projects/p/databases/',
      ...place,
    })
    expect(exported).toEqual({
      status: 200,
      json: { outputUrl: join(directory, 'named', `named${suffix}`), entities: '2' },
    })
    const from = { database: 'projects/q/databases/d' }
    const file = await call('POST', '/emulator/v1/projects/q:import', {
      ...from,
      exportDirectory: exported.json.outputUrl,
    })
    expect(file).toEqual({ status: 200, json: { entities: '2' } })
    expect(await ids('q', 'd')).toEqual(['1', '2'])
    expect(await ids('q')).toEqual([])
    expect((await call('POST', '/emulator/v1/projects/r:import', { exportDirectory: directory })).json.entities).toBe(
      '2',
    )
    const again = await call('POST', '/emulator/v1/projects/p:export', place)
    expect(again.json.error?.message).toContain('exists already')
  })

  test('without a name one is given, and without waiting an operation', async () => {
    const directory = join(folder, `fse-${made++}`)
    const { json } = await call('POST', '/emulator/v1/projects/p:export', { export_directory: directory })
    expect(json.outputUrl).toMatch(/datastore_export_\d+\/datastore_export_\d+\.overall_export_metadata$/)
    const body = { export_directory: directory, export_name: 'x', labels: { run: '7' } }
    const { name } = (await call('POST', '/emulator/v1/projects/p:export?wait=false', body)).json
    expect((await call('POST', `/v1/${name}:wait`, {})).json).toMatchObject({ name, done: true })
  })

  test('a database of another project is refused', async () => {
    for (const database of ['projects/q/databases/', 'databases/x', 'projects/p/databases/a/b']) {
      const { json } = await call('POST', '/emulator/v1/projects/p:export', { database, export_directory: folder })
      expect(json.error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringContaining(database) })
    }
  })
})

test('operations can be listed, read, cancelled and deleted', async () => {
  await put('p', 1)
  const { name } = (await call('POST', '/v1/projects/p:export', { outputUrlPrefix: join(folder, `out-${made++}`) }))
    .json
  expect((await call('GET', '/v1/projects/p/operations?pageSize=100')).json.operations).toMatchObject([{ name }])
  expect((await call('GET', `/v1/${name}`)).json).toMatchObject({ name, done: true })
  expect(await call('POST', `/v1/${name}:cancel`)).toEqual({ status: 200, json: {} })
  expect(await call('DELETE', `/v1/${name}`)).toEqual({ status: 200, json: {} })
  expect((await call('GET', `/v1/${name}`)).status).toBe(404)
})

test('the public Node client exports and imports over gRPC', async () => {
  await put('p', 1, 2)
  const require = createRequire(createRequire(import.meta.url).resolve('@google-cloud/datastore'))
  const { grpc } = require('google-gax') as { grpc: { credentials: { createInsecure(): never } } }
  const client = new v1.DatastoreAdminClient({
    apiEndpoint: '127.0.0.1',
    port: gateway.port,
    projectId: 'p',
    sslCreds: grpc.credentials.createInsecure(),
  })
  try {
    const outputUrlPrefix = 'gs://from-node'
    const [exporting] = await client.exportEntities({ projectId: 'p', outputUrlPrefix })
    const [{ outputUrl }, metadata] = await exporting.promise()
    // 5: SUCCESSFUL
    expect(metadata).toMatchObject({ outputUrlPrefix, common: { state: 5 } })
    const [importing] = await client.importEntities({ projectId: 'q', inputUrl: outputUrl ?? '' })
    await importing.promise()
    expect(await ids('q')).toEqual(['1', '2'])
    const progress = await client.checkExportEntitiesProgress(exporting.name ?? '')
    expect(progress.done).toBe(true)
    await expect(client.importEntities({ projectId: 'q', inputUrl: 'gs://none/x' })).rejects.toMatchObject({ code: 3 })
  } finally {
    await client.close()
  }
})
