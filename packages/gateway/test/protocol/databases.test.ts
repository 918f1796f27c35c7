/** Databases and their settings on the admin side, over REST. */
import { type Engine, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addInspectionRoutes } from '../../src/admin/emulator/inspection.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
type Answer = any

let clock: VirtualClock
let engine: Engine
let gateway: TestGateway

beforeEach(async () => {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock })
  gateway = await testGateway(engine, { routes: (router) => addInspectionRoutes(router, engine) })
})

afterEach(() => engine.close())

async function rest(verb: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(gateway.url + path, {
    method: verb,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return response.json()
}

async function put(databaseId: string, name: string, expireAt: string): Promise<void> {
  const partitionId = { projectId: 'p', databaseId }
  const upsert = {
    key: { partitionId, path: [{ kind: 'Session', name }] },
    properties: { expireAt: { timestampValue: expireAt } },
  }
  const answer = await rest('POST', '/v1/projects/p:commit', {
    databaseId,
    mode: 'NON_TRANSACTIONAL',
    mutations: [{ upsert }],
  })
  expect(answer).not.toHaveProperty('error')
}

const databases = '/v1/projects/p/databases'
const settingsOf = (database: string) => `/emulator/v1/projects/p/databases/${database}/settings`

describe('the databases of a project', () => {
  test('are the default one, and those that have been spoken of', async () => {
    await put('other', 'a', '2030-01-01T00:00:00Z')
    engine.database('another-project', 'elsewhere')
    const listed: Answer = await rest('GET', databases)
    expect(listed.databases.map(({ name }: Answer) => name)).toEqual([
      'projects/p/databases/(default)',
      'projects/p/databases/other',
    ])
    expect(listed.databases[0]).toMatchObject({ type: 'DATASTORE_MODE', concurrencyMode: 'PESSIMISTIC' })
    expect(await rest('GET', `${databases}/(default)`)).toEqual(listed.databases[0])
    expect((await rest('GET', `${databases}/nobody`)).error).toMatchObject({ status: 'NOT_FOUND' })
  })

  test('can be made and deleted, each by an operation that is done', async () => {
    const made = await rest('POST', `${databases}?databaseId=new`, {
      type: 'DATASTORE_MODE',
      concurrencyMode: 'OPTIMISTIC',
    })
    expect(made).toMatchObject({ done: true, response: { concurrencyMode: 'OPTIMISTIC' } })
    expect(await rest('GET', `/v1/${made.name}`)).toMatchObject({ done: true })
    expect((await rest('POST', `${databases}?databaseId=new`, {})).error).toMatchObject({ status: 'ALREADY_EXISTS' })
    expect((await rest('POST', `${databases}?databaseId=n2`, { type: 'FIRESTORE_NATIVE' })).error).toMatchObject({
      status: 'INVALID_ARGUMENT',
    })
    await put('new', 'a', '2030-01-01T00:00:00Z')
    const deleted = await rest('DELETE', `${databases}/new`)
    for (let i = 0; i < 100 && (await rest('GET', `/v1/${deleted.name}`)).done !== true; i++) await clock.advance(1)
    expect((await rest('GET', databases)).databases).toHaveLength(1)
    expect(await engine.check()).toMatchObject({ entities: 0 })
  })

  test('change their concurrency by the mask of Firestore, and nothing else', async () => {
    const path = `${databases}/(default)?updateMask=concurrencyMode`
    const changed = await rest('PATCH', path, { concurrencyMode: 'OPTIMISTIC_WITH_ENTITY_GROUPS' })
    expect(changed).toMatchObject({ done: true })
    expect(engine.database('p').settings.concurrency).toBe('optimisticWithEntityGroups')
    const refused = await rest('PATCH', `${databases}/(default)?updateMask=type`, { type: 'FIRESTORE_NATIVE' })
    expect(refused.error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringContaining('type') })
  })
})

describe('the settings of a database', () => {
  test('are its own', async () => {
    expect(await rest('GET', settingsOf('one'))).toEqual({
      mode: 'firestore',
      concurrencyMode: 'PESSIMISTIC',
      jobPolicy: { forceStrongConsistency: true },
      idAllocationPolicy: { policy: 'SCATTERED' },
      indexes: 'auto',
      idCollisions: 'next',
      lockTimeoutMs: 2000,
      entityGroupsMax: null,
      ttl: [],
    })
    const changed = { indexes: 'require', jobPolicy: { manualJobPolicy: true }, lockTimeoutMs: 50 }
    expect(await rest('PATCH', settingsOf('one'), changed)).toMatchObject(changed)
    expect(await rest('GET', settingsOf('two'))).toMatchObject({
      indexes: 'auto',
      jobPolicy: { forceStrongConsistency: true },
    })
  })

  test('follow a mode, and what is said beside it', async () => {
    const jobPolicy = { forceStrongConsistency: true }
    expect(await rest('PATCH', settingsOf('old'), { jobPolicy, mode: 'legacy' })).toMatchObject({
      mode: 'legacy',
      concurrencyMode: 'OPTIMISTIC_WITH_ENTITY_GROUPS',
      idAllocationPolicy: { policy: 'SEQUENTIAL' },
      entityGroupsMax: 25,
      jobPolicy,
    })
    expect(engine.database('p', 'old').indexOptions).toEqual({ emptyArrayAsNull: true, scatter: 'legacy' })
    await put('old', 'a', '2030-01-01T00:00:00Z')
    await rest('PATCH', settingsOf('old'), { mode: 'firestore' })
    expect(engine.database('p', 'old').indexOptions).toMatchObject({ scatter: 'legacy' })
  })

  test.each([
    [{ moed: 'legacy' }, /no setting "moed".*mode/],
    [{ mode: 'native' }, /mode is "native".*firestore, legacy/],
    [{ indexes: 'require', concurrencyMode: 'SOME' }, /concurrencyMode is "SOME"/],
    [{ lockTimeoutMs: -1 }, /lockTimeoutMs is -1/],
    [{ ttl: [{ kind: 'A' }] }, /ttl\[0\]\.property is missing/],
    [
      {
        ttl: [
          { kind: 'A', property: 'x' },
          { kind: 'A', property: 'y' },
        ],
      },
      /two TTL policies/,
    ],
  ])('refuse %j and change nothing', async (asked, why) => {
    const before = await rest('GET', settingsOf('d'))
    const { error } = await rest('PATCH', settingsOf('d'), asked)
    expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringMatching(why) })
    expect(await rest('GET', settingsOf('d'))).toEqual(before)
  })

  test('are listed by the inspector', async () => {
    await rest('PATCH', settingsOf('one'), { indexes: 'require' })
    expect(await rest('GET', '/emulator/inspect/databases')).toMatchObject({
      databases: [{ project: 'p', database: 'one', settings: { indexes: 'require' } }],
    })
  })
})

describe('a TTL policy', () => {
  const field = `${databases}/(default)/collectionGroups/Session/fields/expireAt`
  const name = field.slice('/v1/'.length)

  test('is made, listed and taken away as a setting of a field', async () => {
    expect(await rest('GET', field)).toEqual({ name })
    const made = await rest('PATCH', `${field}?updateMask=ttlConfig`, { ttlConfig: {} })
    expect(made).toMatchObject({ done: true, response: { name, ttlConfig: { state: 'ACTIVE' } } })
    const all = `${databases}/(default)/collectionGroups/-/fields?filter=ttlConfig:*`
    expect(await rest('GET', all)).toEqual({ fields: [{ name, ttlConfig: { state: 'ACTIVE' } }] })
    const second = await rest('PATCH', `${field.replace('expireAt', 'other')}?updateMask=ttlConfig`, { ttlConfig: {} })
    expect(second.error).toMatchObject({ status: 'FAILED_PRECONDITION', message: expect.stringContaining('expireAt') })
    await rest('PATCH', `${field}?updateMask=ttlConfig`, {})
    expect(await rest('GET', all)).toEqual({ fields: [] })
  })

  test('is of its database alone, and what has expired goes', async () => {
    await rest('PATCH', settingsOf('with'), { ttl: [{ kind: 'Session', property: 'expireAt' }] })
    await put('with', 'old', '2020-01-01T00:00:00Z')
    await put('with', 'new', '2100-01-01T00:00:00Z')
    await put('without', 'old', '2020-01-01T00:00:00Z')
    expect(await engine.sweepExpired()).toBe(1)
    expect(await engine.check()).toMatchObject({ entities: 2 })
  })
})
