/** The commands of `sixtables` that need a Bigtable alone, in this process. */
import { readFileSync } from 'node:fs'
import { exportRemedy } from '@sixtables/engine'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sixtables, startCommand } from '../../../gateway/test/support/cli.ts'
import { openJsonClient } from '../../../gateway/test/support/http-clients.ts'
import { families } from '../../src/row-store/row-store.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'

let fake: FakeBigtable
let env: { readonly BIGTABLE_EMULATOR_HOST: string }
const page = readFileSync(new URL('../../../../docs/bigtable.md', import.meta.url), 'utf8')
const named = ['--bigtable-project', 'demo', '--bigtable-instance', 'local']

beforeAll(async () => {
  fake = await FakeBigtable.start()
  env = { BIGTABLE_EMULATOR_HOST: fake.address }
})
afterAll(() => fake.close())
beforeEach(() => {
  fake.fault = () => undefined
  fake.tables.clear()
})

test('bigtable create makes the table once, and says so', async () => {
  const create = ['bigtable', 'create', ...named, '--bigtable-table', 'mine']
  expect(await sixtables(create, { env })).toEqual({
    code: 0,
    out: 'Made the table mine of instance local in project demo.',
    err: '',
  })
  const [table] = fake.tables.values()
  expect([...(table?.families.keys() ?? [])].sort()).toEqual([...families].sort())
  expect(await sixtables(create, { env })).toMatchObject({ code: 0, out: expect.stringContaining('already') })
})

test('bigtable rows changes the clock rows of a database, also back, and refuses a wrong number', async () => {
  await sixtables(['bigtable', 'create', ...named], { env })
  const rows = (number: string) => sixtables(['bigtable', 'rows', number, ...named, '--project', 'shop'], { env })
  expect(await rows('4')).toMatchObject({
    code: 2,
    err: expect.stringContaining('project shop; write an entity first'),
  })
  const started = await startCommand(['--store', 'bigtable', ...named], { env })
  const put = { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key: { path: [{ kind: 'K', name: 'a' }] } } }] }
  const { status } = await fetch(`http://${started.address}/v1/projects/shop:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(put),
  })
  expect(status).toBe(200)
  await started.stop()
  const mistyped = await sixtables(['bigtable', 'rows', '4', ...named, '--project', 'shpo'], { env })
  expect(mistyped).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /no data of the default database of project shpo; it has .*the default database of project shop/,
    ),
  })
  const said = 'clock rows for the default database of project shop; before: 1.'
  expect(await rows('4')).toEqual({ code: 0, out: `4 ${said}`, err: '' })
  expect(await rows('1')).toMatchObject({ code: 0, out: expect.stringMatching(/^1 clock row for .*; before: 4\.$/) })
  expect(await rows('65')).toMatchObject({ code: 2, err: expect.stringContaining('has 1 to 64 clock rows; got 65') })
  expect(await rows('four')).toMatchObject({ code: 2, err: expect.stringContaining('is a whole number; got "four"') })
})

test('a Bigtable that refuses is one line, and exit code 2', async () => {
  fake.fault = () => ({ type: 'refuse', code: 7, message: 'not you' })
  const start = ['start', '--store', 'bigtable', ...named, '--port', '0']
  for (const args of [['bigtable', 'create', ...named], start, ['check', '--store', 'bigtable', ...named]]) {
    const { code, out, err } = await sixtables(args, { env })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^sixtables: .*roles\/bigtable.*not you/)
    expect(err).not.toContain('\n')
  }
})

test('a start says once that nothing listens at the emulator yet, and goes on when it does', async () => {
  let refused = 0
  fake.fault = () => (refused++ < 3 ? { type: 'refuse', code: 14, message: 'connect ECONNREFUSED' } : undefined)
  const server = await startCommand(['--store', 'bigtable', ...named, '--host', '127.0.0.1'], { env })
  expect(
    server.said().split(`nothing listens at ${fake.address}, waiting for it; is the emulator running?`),
  ).toHaveLength(2)
  await server.stop()
})

test('check looks at a table or at another place, and repairs no table', async () => {
  const check = ['check', '--store', 'bigtable', ...named]
  expect((await sixtables([...check, '--endpoint', 'localhost:1'], { env })).err).toContain('give one of them')
  expect((await sixtables([...check, '--repair'], { env })).err).toMatch(/--repair does not go with.*import the export/)
  expect((await sixtables(['check', ...named], { env })).err).toMatch(
    /^sixtables: --bigtable-project .*--store bigtable/,
  )
})

test('check makes no table, and says that there is none', async () => {
  const outcome = await sixtables(['check', '--store', 'bigtable', ...named], { env })
  expect(outcome).toMatchObject({ code: 2, err: expect.stringMatching(/no table sixtables.*bigtable create/) })
  expect([...fake.tables]).toEqual([])
})

test('problems of a table are told with a remedy that it takes, the same everywhere; a snapshot with what to do instead', async () => {
  const server = await startCommand(['--store', 'bigtable', ...named, '--host', '127.0.0.1'], { env })
  const refused = await fetch(`http://${server.address}/emulator/snapshots/one`, { method: 'POST' })
  expect(await refused.json()).toMatchObject({
    error: { code: 501, message: expect.stringMatching(/start without --store bigtable.*, or export/) },
  })
  const [host = '', port] = server.address.split(':')
  const client = await openJsonClient({ host, port: Number(port) })
  await client.write('upsert', [{ path: ['K', 'a'], properties: {} }])
  // It waits for the rows of the commit.
  await client.query({ kind: 'K', filters: [] })
  await server.stop()
  const [table] = fake.tables.values()
  const indexRow = table?.keys.from('K') ?? ''
  table?.mutate(indexRow, [{ deleteFromRow: {} }], 0n)
  const { code, out } = await sixtables(['check', '--store', 'bigtable', ...named], { env })
  expect(code).toBe(1)
  expect(out).toMatch(new RegExp(`missing index row: .*; ${exportRemedy}\\.$`, 's'))
  expect(page).toContain(`| \`sixtables check --repair\` | ${exportRemedy} |`)
})

/** A use of each flag that docs/bigtable.md says is refused. */
const uses: Readonly<Record<string, readonly string[]>> = {
  '--data-dir': ['--data-dir', 'x'],
  '--storage-file': ['--storage-file', 'x'],
  '--store-on-disk': ['--store-on-disk'],
  '--no-store-on-disk': ['--no-store-on-disk'],
  '--testing': ['--testing'],
  '--durability': ['--durability', 'power'],
  '--apply': ['--apply', 'manual'],
  '--apply-delay-ms': ['--apply-delay-ms', '5'],
  '--consistency': ['--consistency', '0.5'],
  '--simulate': ['--simulate'],
  '--simulate-scale': ['--simulate-scale', '10'],
  '--tablet-servers': ['--tablet-servers', '3'],
  '--server-ops': ['--server-ops', '100'],
  '--clock': ['--clock', '2030-01-01T00:00:00Z'],
  '--store-index-configuration-on-disk': ['--store-index-configuration-on-disk'],
  '--max-transactions': ['--max-transactions', '5'],
  '--max-transaction-bytes': ['--max-transaction-bytes', '5'],
}

test('each flag that the page says is refused is one line with what to use instead, and exit code 2', async () => {
  const [, refused = ''] = /\| refused \| use instead \|\n(.*?)\n\n/s.exec(page) ?? []
  const flags = refused.split('\n').flatMap((row) => row.split('|')[1]?.match(/(?<=`)--[a-z-]+(?=`)/g) ?? [])
  expect(flags.filter((flag) => flag !== '--mode').sort()).toEqual(Object.keys(uses).sort())
  for (const [flag, use] of Object.entries(uses)) {
    const { code, out, err } = await sixtables(['start', '--store', 'bigtable', ...named, ...use], { env })
    expect({ flag, code, out }).toEqual({ flag, code: 2, out: '' })
    expect(err).toMatch(new RegExp(`^sixtables: ${flag}\\b.* does not go with --store bigtable: .{20}`))
    expect(err).not.toContain('\n')
  }
  const folder = await sixtables(['start', 'here', '--store', 'bigtable', ...named], { env })
  expect(folder.err).toMatch(/^sixtables: here does not go with --store bigtable: .*--bigtable-table/)
})
