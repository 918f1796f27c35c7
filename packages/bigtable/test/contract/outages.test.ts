/** A Bigtable that refuses or is silent under a running gateway (availability/AV1): health, words, and the end of it. */
import { DatastoreError, type Engine, openEngine, type Scheduler, systemScheduler } from '@sixtables/engine'
import { startGateway } from '@sixtables/gateway'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ApiClient } from '../../../gateway/test/support/api-client.ts'
import { type Started, sixtables, startCommand } from '../../../gateway/test/support/cli.ts'
import { openJsonClient } from '../../../gateway/test/support/http-clients.ts'
import { eventually, patienceMs } from '../../../gateway/test/support/patience.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { openBigtable } from '../../src/index.ts'
import { FakeBigtable, type FakeMethod } from '../support/fake-bigtable.ts'
import { openPatiently, placeOf, sleptScheduler, tableOf } from '../support/fake-client.ts'

/** The Bigtable of the server alone. */
let fake: FakeBigtable
let server: Started
let client: ApiClient

beforeAll(async () => {
  fake = await FakeBigtable.start()
  const flags = [
    '--store',
    'bigtable',
    '--bigtable-project',
    'demo',
    '--bigtable-instance',
    'local',
    '--host',
    '127.0.0.1',
  ]
  server = await startCommand(flags, { env: { BIGTABLE_EMULATOR_HOST: fake.address } })
  const [host = '', port] = server.address.split(':')
  client = await openJsonClient({ host, port: Number(port) })
})
afterAll(async () => {
  await server.stop()
  await fake.close()
})
beforeEach(() => {
  fake.fault = () => undefined
})

const put = (name: string) => client.write('upsert', [{ path: ['K', name], properties: { a: 1 } }])
const patience = String(patienceMs / 1000)
const now = () => performance.now()
const health = (wait = '0') => sixtables(['health', '--endpoint', server.address, '--wait', wait], { now })
const linesWith = (words: string): number =>
  server
    .said()
    .split('\n')
    .filter((line) => line.includes(words)).length

function refusing(method: FakeMethod | 'all', code: number, message: string, at = fake): void {
  at.fault = (call) => (method === 'all' || call.method === method ? { type: 'refuse', code, message } : undefined)
}

test.each([
  ['CheckAndMutateRow', 9, 'not allowed by this app profile', 'app profile "default" must route to one cluster'],
  ['ReadRows', 7, 'not so', 'may not read rows; give them roles/bigtable.user'],
  ['all', 16, 'not so', 'renew them with `gcloud auth application-default login`'],
] as const)('a refusal of %s with code %s is health, until it is over', async (method, code, said, remedy) => {
  const toldBefore = linesWith(remedy)
  refusing(method, code, said)
  await expect(put('x')).rejects.toThrow()
  expect((await health()).err).toContain(remedy)
  fake.fault = () => undefined
  expect(await health(patience)).toMatchObject({ code: 0 })
  expect(linesWith(remedy) - toldBefore).toBe(1)
  await put('x')
})

test('a check that a Bigtable refuses ends with exit code 2, through a gateway and beside it', async () => {
  await put('x')
  refusing('all', 7, 'not so')
  const env = { BIGTABLE_EMULATOR_HOST: fake.address }
  const table = ['--store', 'bigtable', '--bigtable-project', 'demo', '--bigtable-instance', 'local']
  for (const place of [['--endpoint', server.address], table]) {
    const outcome = await sixtables(['check', ...place], { env })
    expect(outcome).toMatchObject({ code: 2, err: expect.stringMatching(/^sixtables: .*not so/) })
  }
  fake.fault = () => undefined
  expect(await health(patience)).toMatchObject({ code: 0 })
})

test('a row that is too large is refused alone, in words about rows', async () => {
  const beside = await FakeBigtable.start()
  const rows = await openPatiently(beside.address, 'large')
  const told: unknown[] = []
  rows.onFailure((failure) => told.push(failure))
  let isFirst = true
  beside.fault = ({ method }) => {
    if (method !== 'ReadRows' || !isFirst) return undefined
    isFirst = false
    return { type: 'refuse', code: 9, message: 'Read returned 269MB from row "a", which exceeds the limit of 256MiB' }
  }
  const read = () => rows.readRows(['a'], [{ family: 'v' }])
  const { code, message } = await read().then(
    () => new DatastoreError('INTERNAL', 'it was read'),
    (error: DatastoreError) => error,
  )
  expect(code).toBe('FAILED_PRECONDITION')
  expect(message).toMatch(/refused to read rows; .*256 MiB.*269MB/)
  expect(message).not.toMatch(/app profile/)
  await read()
  expect({ told, failure: rows.failure }).toEqual({ told: [], failure: undefined })
  await rows.close()
  await beside.close()
})

test('a process that stood still tells of no silence', async () => {
  const beside = await FakeBigtable.start()
  let stoodMs = 0
  const rows = await openPatiently(beside.address, 'stopped', {
    ...systemScheduler,
    steadyMs: () => stoodMs,
    // The time of a trial does not come to its end, as slow as this machine may be.
    sleep: (ms, signal) => systemScheduler.sleep(ms < 1_000 ? ms : patienceMs, signal),
  })
  const told: unknown[] = []
  rows.onFailure((failure) => told.push(failure))
  // When it goes on, the time of the call is over.
  beside.fault = () => {
    beside.fault = () => undefined
    stoodMs = 150_000
    return { type: 'refuse', code: 4, message: 'the deadline has passed' }
  }
  const read = () => rows.readRows(['a'], [{ family: 'v' }])
  await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await read()
  expect({ told, failure: rows.failure }).toEqual({ told: [], failure: undefined })
  await rows.close()
  await beside.close()
})

test('a Bigtable without quota is RESOURCE_EXHAUSTED, and what was committed is applied nevertheless', async () => {
  refusing('CheckAndMutateRow', 8, 'too much')
  await expect(put('exhausted')).rejects.toThrow('too much')
  expect(await health()).toMatchObject({ code: 0 })
  let refusals = 0
  fake.fault = ({ method }) => (method === 'MutateRows' && refusals++ < 2 ? { type: 'refuse', code: 8 } : undefined)
  await put('applied late')
  const { entities } = await client.query({ kind: 'K', filters: [['a', '=', 1]] })
  expect(entities.map(({ path }) => path[1])).toContain('applied late')
  expect(refusals).toBeGreaterThan(2)
})

test('calls to a Bigtable that has gone are UNAVAILABLE with the reason; after seconds all is, until it is back', async () => {
  const beside = await FakeBigtable.start()
  let silentMs = 0
  const scheduler = sleptScheduler(() => silentMs)
  const place = placeOf(beside.address, 'gone')
  const rows = await openBigtable({ ...place, timeoutMs: 2_000, attemptMs: patienceMs, scheduler })
  const told: (string | undefined)[] = []
  rows.onFailure((failure) => told.push(failure?.code))
  // The engine gives up no caller itself.
  const sleep: Scheduler['sleep'] = (ms, ...rest) => systemScheduler.sleep(ms < 10_000 ? ms : patienceMs, ...rest)
  const engine: Engine = await openEngine({
    store: severalGateways({ rows, gateway: 1 }),
    scheduler: { ...systemScheduler, sleep },
  })
  const gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  const isHealthy = async () => (await fetch(`http://127.0.0.1:${gateway.port}/`)).ok
  const caller = await openJsonClient(gateway)
  await caller.write('upsert', [{ path: ['K', 1], properties: {} }])
  refusing('all', 14, 'connection refused', beside)
  const silent = /did not answer in time; is the emulator running\?/
  expect(rows, 'for calls that wait no longer').toMatchObject({
    silenceRemedy: expect.stringMatching(/^is the emulator running\?/),
  })
  await expect(caller.read([{ path: ['K', 1] }])).rejects.toThrow(silent)
  expect(await isHealthy()).toBe(true)
  silentMs = 5_000
  await Promise.all([1, 2].map((id) => expect(caller.read([{ path: ['K', id] }])).rejects.toThrow(silent)))
  expect(await isHealthy()).toBe(false)
  const late = caller.write('upsert', [{ path: ['K', 2], properties: {} }]).catch(() => {})
  beside.fault = () => undefined
  await late
  await eventually(async () => expect(await isHealthy()).toBe(true))
  expect(told).toEqual(['UNAVAILABLE', undefined])
  await caller.write('upsert', [{ path: ['K', 2], properties: {} }])
  expect(await caller.read([{ path: ['K', 1] }, { path: ['K', 2] }])).not.toContain(undefined)
  await gateway.close()
  await engine.close()
  await beside.close()
})

test('availability/AV1: rows of a table that is gone say so, from the call on that finds it', async () => {
  const beside = await FakeBigtable.start()
  const rows = await openPatiently(beside.address, 'dropped')
  const read = () => rows.readRows(['a'], [{ family: 'v' }])
  await read()
  expect(rows.isGone).toBe(false)
  beside.tables.clear()
  for (const _ of [1, 2]) {
    await expect(read()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('there was no table'),
    })
  }
  expect(rows.isGone).toBe(true)
  await rows.close()
  await beside.close()
})

test('a table that is dropped makes the server unhealthy for good with one line, also when one is made anew', async () => {
  await put('first')
  expect(await health()).toMatchObject({ code: 0 })
  const usedAgain = linesWith('can be used again')
  fake.tables.clear()
  const refused = await Promise.allSettled(Array.from({ length: 5 }, (_, i) => put(`k${i}`)))
  expect(refused.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  const remedy =
    /there was no table sixtables.* at \d\d:\d\d:\d\d UTC; start this gateway anew, which makes it: it knows/
  for (const outcome of refused) expect(String('reason' in outcome && outcome.reason)).toMatch(remedy)
  expect(await health()).toMatchObject({ code: 1, err: expect.stringMatching(remedy) })
  expect((await health()).err).not.toContain('--wait')
  expect((await fetch(`http://${server.address}/`)).status).toBe(503)
  const table = tableOf(fake, 'sixtables')
  const sent = () => Object.values(fake.counts).reduce((sum, { calls }) => sum + calls, 0)
  const before = sent()
  await expect(put('after')).rejects.toThrow(remedy)
  expect(await health('1.5')).toMatchObject({ code: 1 })
  expect({ sent: sent(), row: table.keys.from('') }).toEqual({ sent: before, row: undefined })
  expect(linesWith('start this gateway anew')).toBe(1)
  expect(linesWith('can be used again')).toBe(usedAgain)
})
