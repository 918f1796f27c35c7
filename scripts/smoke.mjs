/**
 * `npm run smoke`: starts the built server on a free port with a data folder of its own, uses it once through @google-cloud/datastore over
 * gRPC, checks the claims of README.md, and stops it with SIGTERM. The last line is `smoke: N passed, M failed`.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { readReadme, withoutTimes } from './lib/readme.mjs'
import { steps } from './lib/steps.mjs'
import { hear, root, untilSaid } from './lib/tools.mjs'

const limitMs = 120_000
const binary = join(root, 'packages/gateway/bin/sixtables.js')
const require = createRequire(join(root, 'packages/gateway/package.json'))
const folder = mkdtempSync(join(tmpdir(), 'sixtables-smoke-'))
const server = spawn(process.execPath, [binary, 'start', '--port', '0', '--data-dir', folder], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const timer = setTimeout(() => {
  process.stderr.write(`smoke: nothing more happened for ${limitMs / 1000} s; giving up\n`)
  server.kill('SIGKILL')
}, limitMs)

const { step, end } = steps({ name: 'smoke', onStep: () => timer.refresh() })
const said = hear(server)

let datastore
let PropertyFilter
await step('the server says where it listens', async () => {
  const [, address] = await untilSaid(server, said, /API endpoint: http:\/\/(\S+)[\s\S]*running/)
  process.env.DATASTORE_EMULATOR_HOST = address
  process.env.METADATA_SERVER_DETECTION = 'none'
  const client = require('@google-cloud/datastore')
  PropertyFilter = client.PropertyFilter
  datastore = new client.Datastore({ projectId: 'smoke' })
})

if (datastore !== undefined) {
  const key = datastore.key(['ToDo', 'first'])
  const data = { description: 'try the emulator', done: false, priority: 4 }
  await step('an entity is saved', () => datastore.save({ key, data }))
  await step('it is read back by its key', async () => {
    const [entity] = await datastore.get(key)
    assert.deepEqual(Object.fromEntries(Object.entries(entity)), data)
  })
  await step('a query finds it by a property', async () => {
    const query = datastore.createQuery('ToDo').filter(new PropertyFilter('priority', '>', 3))
    const [found] = await datastore.runQuery(query)
    assert.equal(found.length, 1)
    assert.equal(found[0][datastore.KEY].name, 'first')
  })
  await step('a transaction reads and writes it', async () => {
    const transaction = datastore.transaction()
    await transaction.run()
    const [entity] = await transaction.get(key)
    transaction.save({ key, data: { ...entity, done: true } })
    await transaction.commit()
    const [after] = await datastore.get(key)
    assert.equal(after.done, true)
  })
  await step('it is gone once deleted', async () => {
    await datastore.delete(key)
    const [entity] = await datastore.get(key)
    assert.equal(entity, undefined)
  })
}

const readme = readReadme()

await step('the program in README.md prints what README.md says', async () => {
  const client = pathToFileURL(require.resolve('@google-cloud/datastore')).href
  const program = join(folder, 'todo.mjs')
  writeFileSync(program, readme.program.replace("'@google-cloud/datastore'", `'${client}'`))
  const env = { ...process.env, DATASTORE_PROJECT_ID: 'demo' }
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  assert.equal(stdout, readme.printed)
})

await step('and leaves the rows that README.md shows', async () => {
  const args = [binary, 'inspect', 'rows', 'User:ada/ToDo:1']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: process.env })
  assert.equal(withoutTimes(stdout), withoutTimes(readme.rows))
})

// Windows has no SIGTERM: a process can only be killed there.
const hasSignals = process.platform !== 'win32'
await step(`${hasSignals ? 'SIGTERM' : 'POST /shutdown'} ends the server with exit code 0`, async () => {
  const ended = server.exitCode === null ? once(server, 'exit') : [server.exitCode, null]
  if (hasSignals) server.kill('SIGTERM')
  else await fetch(`http://${process.env.DATASTORE_EMULATOR_HOST}/shutdown`, { method: 'POST' })
  const [code, signal] = await ended
  assert.deepEqual({ code, signal }, { code: 0, signal: null })
})

clearTimeout(timer)
rmSync(folder, { recursive: true, force: true })
// The client's open channels would keep the process alive.
process.exit(end())
