/** Set-ups that cannot work: each is one line, which says what was found and what to do. */
import { type AddressInfo, createServer } from 'node:net'
import type { Metadata } from '@grpc/grpc-js'
import { openEngine, type Scheduler, systemScheduler } from '@sixtables/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patienceMs } from '../../../gateway/test/support/patience.ts'
import { CallError } from '../../src/client/call-error.ts'
import { callCredentials } from '../../src/client/credentials.ts'
import { problemOf } from '../../src/client/table-place.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { createBigtableTable, openBigtable } from '../../src/index.ts'
import { families } from '../../src/row-store/row-store.ts'
import { FakeBigtable, type FakeMethod } from '../support/fake-bigtable.ts'
import { placeOf, sleptScheduler } from '../support/fake-client.ts'
import { FakeTable } from '../support/fake-table.ts'

let fake: FakeBigtable
beforeAll(async () => {
  fake = await FakeBigtable.start()
  fake.nowMicros = () => now
})
afterAll(() => fake.close())

const table = 'projects/demo/instances/local/tables/sixtables'
const now = systemScheduler.nowMicros()
/** Time stands still: no Bigtable is too slow. */
const scheduler: Scheduler = { ...systemScheduler, nowMicros: () => now, steadyMs: () => 0 }
const options = () => ({ ...placeOf(fake.address, 'sixtables'), scheduler, attemptMs: patienceMs })

/** The message of what opening throws; it has one line. */
async function problem(opening: Promise<unknown>): Promise<string> {
  const error = await opening.then(
    () => new Error('it opened'),
    (thrown: Error) => thrown,
  )
  expect(error.name).toBe('DatastoreError')
  expect(error.message).not.toContain('\n')
  return error.message
}

function refusing(method: FakeMethod, code: number, message: string): void {
  fake.fault = (call) => (call.method === method ? { type: 'refuse', code, message } : undefined)
}

function withFamilies(gcRules: Readonly<Record<string, object | undefined>>): void {
  const all = families.map((family) => [family, { gcRule: gcRules[family] }] as const)
  fake.tables.set(table, new FakeTable(new Map(all.filter(([family]) => gcRules[family] !== null))))
}

test('no Bigtable at the address', async () => {
  const told: string[] = []
  const onWaiting = (line: string) => told.push(line)
  const said = await problem(
    openBigtable({ ...options(), emulator: '127.0.0.1:9', scheduler: sleptScheduler(), onWaiting }),
  )
  expect(told).toEqual([
    expect.stringMatching(/^nothing listens at 127\.0\.0\.1:9, waiting for it; is the emulator running/),
  ])
  expect(said).toMatch(/127\.0\.0\.1:9.*is the emulator running\? BIGTABLE_EMULATOR_HOST.*ECONNREFUSED/)
})

test('an address that takes connections and does not answer', async () => {
  const silent = createServer((socket) => socket.resume())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const emulator = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  expect(await problem(openBigtable({ ...placeOf(emulator, 'sixtables'), timeoutMs: 300 }))).toMatch(
    `${emulator} did not answer in time; is the emulator`,
  )
  silent.close()
})

test('ids that cannot be', async () => {
  expect(await problem(openBigtable({ ...options(), instance: 'A/B' }))).toContain(
    '"A/B" cannot be the id of a Bigtable instance: it has 2 to 33 lowercase letters, digits and hyphens, and begins with a letter',
  )
})

test('no such instance', async () => {
  fake.instances.add('projects/demo/instances/other')
  expect(await problem(openBigtable(options()))).toMatch(
    /there is no instance local in project demo; `gcloud bigtable instances list --project demo`/,
  )
  fake.instances.clear()
})

test('no such table', async () => {
  refusing('CreateTable', 6, 'exists')
  expect(await problem(openBigtable(options()))).toMatch(
    /there is no table sixtables in instance local of project demo; `sixtables bigtable create --bigtable-project demo/,
  )
})

test('a table that is gone from Google is to be made before the gateway starts anew; that of an emulator is not', () => {
  const { emulator: _emulator, ...real } = placeOf(fake.address, 'sixtables')
  const missing = new CallError(5, `table "${table}" not found`)
  expect(problemOf(missing, real, 'read rows')).toMatchObject({
    remedy: expect.stringMatching(/^make it .*`sixtables bigtable create .*start this gateway anew$/),
  })
  expect(problemOf(missing, placeOf(fake.address, 'sixtables'), 'read rows')).toMatchObject({
    remedy: 'start this gateway anew, which makes it',
  })
})

test('no rights to read, and none to make a table', async () => {
  refusing('GetTable', 7, 'caller lacks bigtable.tables.get')
  expect(await problem(openBigtable(options()))).toMatch(/may not .*roles\/bigtable\.user.*caller lacks/)
  refusing('CreateTable', 7, 'caller lacks bigtable.tables.create')
  expect(await problem(createBigtableTable(options()))).toMatch(/may not make the table.*roles\/bigtable\.admin/)
})

test('a rule that would delete versions, and a table of other families', async () => {
  fake.fault = () => undefined
  withFamilies({ l: { maxNumVersions: 1 } })
  expect(await problem(openBigtable(options()))).toMatch(
    /garbage collection rule for the column family "l" \(keeps 1 versions\).*cbt .* setgcpolicy sixtables l never/,
  )
  withFamilies({ t: { maxAge: { seconds: 60n } } })
  expect(await problem(openBigtable(options()))).toMatch(/"t" \(keeps cells for 60 s\).*maxage=1h/)
  fake.tables.set(table, new FakeTable(new Map([['cf', {}]])))
  expect(await problem(openBigtable(options()))).toMatch(/has no column family "v".*--bigtable-table/)
})

test('an app profile without single-row transactions', async () => {
  withFamilies({})
  refusing('CheckAndMutateRow', 5, 'App profile "projects/demo/instances/local/appProfiles/gone" not found')
  expect(await problem(openBigtable({ ...options(), appProfile: 'gone' }))).toMatch(
    /has no app profile gone; `gcloud bigtable app-profiles list --project=demo --instance=local`/,
  )
  fake.fault = () => undefined
  fake.profilesWithoutTransactions.add('anywhere')
  expect(await problem(openBigtable({ ...options(), appProfile: 'anywhere' }))).toMatch(
    /app profile anywhere must route to one cluster.*gcloud bigtable app-profiles create.*--transactional-writes.*--bigtable-app-profile/,
  )
})

test('a clock that is more than a minute off', async () => {
  fake.fault = () => undefined
  withFamilies({})
  fake.nowMicros = () => now - 3_600_000_000n
  expect(await problem(openBigtable(options()))).toMatch(
    /^the clock of this machine is 3600 s ahead of the clock of the Bigtable table sixtables.*set the clock right/,
  )
  fake.nowMicros = () => now + 90_000_000n
  expect(await problem(openBigtable(options()))).toMatch(/^the clock of this machine is (89|90) s behind the clock/)
  for (const differenceMicros of [-50_000_000n, 50_000_000n]) {
    fake.nowMicros = () => now + differenceMicros
    await (await openBigtable(options())).close()
  }
  fake.nowMicros = () => now
})

test('no credentials', async () => {
  const before = process.env['GOOGLE_APPLICATION_CREDENTIALS']
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = '/nowhere/key.json'
  const { emulator: _emulator, ...real } = options()
  const said = await problem(openBigtable(real))
  if (before === undefined) delete process.env['GOOGLE_APPLICATION_CREDENTIALS']
  else process.env['GOOGLE_APPLICATION_CREDENTIALS'] = before
  expect(said).toMatch(/gcloud auth application-default login.*GOOGLE_APPLICATION_CREDENTIALS.*BIGTABLE_EMULATOR_HOST/)
})

test('a table is made once, with the rule of read sets alone, and opens', async () => {
  fake.tables.clear()
  expect(await createBigtableTable(options())).toBe(true)
  expect(await createBigtableTable(options())).toBe(false)
  const rules = [...(fake.tables.get(table)?.families ?? [])].map(([name, { gcRule }]) => [
    name,
    gcRule?.maxAge?.seconds,
  ])
  expect(rules).toEqual(families.map((family) => [family, family === 't' ? 3600n : undefined]))
  const rows = await openBigtable(options())
  expect(rows.location).toBe(`Bigtable table sixtables of instance local in project demo, emulator at ${fake.address}`)
  await rows.close()
})

test('a table that may not be reset keeps its data', async () => {
  const rows = await openBigtable(options())
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1, resetRefusal: 'consent is missing' }) })
  await expect(engine.reset()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION', message: 'consent is missing' })
  await engine.close()
})

test('headers of an auth client go with each call', async () => {
  const headers = new Headers({ authorization: 'Bearer secret', 'x-goog-user-project': 'billed' })
  const metadata: Metadata = await callCredentials({
    getRequestHeaders: async () => headers,
  }).generateMetadata({ method_name: 'ReadRows', service_url: 'https://bigtable.googleapis.com' })
  expect(metadata.getMap()).toEqual({ authorization: 'Bearer secret', 'x-goog-user-project': 'billed' })
})
