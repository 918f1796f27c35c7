/**
 * Exports and imports against Google's emulators, where they are installed:
 *
 *   theirs → ours   entities of every kind of value are written to theirs, exported by it, imported by us, and compared
 *   ours → theirs   the same the other way round, with values in it that only we can say
 *
 *   node packages/gateway/scripts/compare-exports.mjs [--write-fixtures]
 *
 * `--write-fixtures` also keeps the exports of the Datastore emulator under packages/engine/test/fixtures/export-legacy/, so
 * that tests need no emulator. Needs the built packages. Skips, and says why, what is not installed; exit code 1 when
 * something differs.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { entities, onlyOurs } from './compare-exports-entities.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const fixtures = join(root, 'packages/engine/test/fixtures/export-legacy')
const project = 'p'
const folder = mkdtempSync(join(tmpdir(), 'sixtables-compare-'))
const started = []
let differences = 0

function sdkRoot() {
  try {
    return execFileSync('gcloud', ['info', '--format=value(installation.sdk_root)'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** Starts a server in a process group of its own and waits until it answers. */
async function start(name, command, args, port) {
  const host = `localhost:${port}`
  if (await fetch(`http://${host}/`).catch(() => undefined)) throw new Error(`${host} is in use by another server`)
  const child = spawn(command, args, { stdio: 'ignore', detached: true, cwd: folder })
  started.push(child)
  for (let i = 0; i < 120; i++) {
    const answer = await fetch(`http://${host}/`).catch(() => undefined)
    if (answer?.ok) return host
    await sleep(250)
  }
  throw new Error(`${name} did not answer on ${host}`)
}

async function post(host, path, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://${host}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${host}${path}: ${response.status} ${text.slice(0, 300)}`)
  return text.startsWith('{') ? JSON.parse(text) : {}
}

async function put(host, some) {
  for (const entity of some) {
    const commit = { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: entity }] }
    await post(host, `/v1/projects/${project}:commit`, commit)
  }
}

/** All entities by key, in a form that does not depend on the order of properties or on how a double is printed. */
async function all(host) {
  const found = new Map()
  for (const namespaceId of ['', 'space', 'n.s-1']) {
    const { batch } = await post(host, `/v1/projects/${project}:runQuery`, { partitionId: { namespaceId }, query: {} })
    for (const { entity } of batch.entityResults ?? []) found.set(JSON.stringify(entity.key), plain(entity))
  }
  return found
}

function plain(value) {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]))
}

function compare(what, expected, found) {
  const keys = new Set([...expected.keys(), ...found.keys()])
  let different = 0
  for (const key of keys) {
    const [a, b] = [expected.get(key), found.get(key)]
    if (isDeepStrictEqual(a, b)) continue
    different++
    console.log(`  ${key}\n    before ${JSON.stringify(a?.properties)}\n    after  ${JSON.stringify(b?.properties)}`)
  }
  differences += different
  console.log(`${what}: ${keys.size} entities, ${different} different`)
}

const references = [
  {
    name: 'Datastore emulator',
    command: 'platform/cloud-datastore-emulator/cloud_datastore_emulator',
    args: (port) => ['start', '--host=localhost', `--port=${port}`, '--testing'],
    port: 9771,
    async exportTo(host, dir) {
      await post(host, `/v1/projects/${project}:export`, { outputUrlPrefix: dir })
      return metadataIn(dir)
    },
    importFrom: (host, inputUrl) => post(host, `/v1/projects/${project}:import`, { inputUrl }),
  },
  {
    name: 'Firestore emulator in Datastore mode',
    command: 'platform/cloud-firestore-emulator/cloud_firestore_emulator',
    args: (port) => ['start', '--host=localhost', `--port=${port}`, '--database-mode=datastore-mode'],
    port: 9773,
    async exportTo(host, dir) {
      mkdirSync(dir)
      const names = { export_directory: dir, export_name: 'theirs' }
      await post(host, `/emulator/v1/projects/${project}:export`, {
        database: `projects/${project}/databases/`,
        ...names,
      })
      return metadataIn(dir)
    },
    importFrom: (host, path) =>
      post(host, `/emulator/v1/projects/${project}:import`, {
        database: `projects/${project}/databases/`,
        export_directory: path,
      }),
  },
]

/** The overall metadata file below a folder; with several, the one that lists the most. */
function metadataIn(dir) {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const found = files.filter((name) => name.endsWith('.overall_export_metadata')).map((name) => join(dir, name))
  return found.sort((a, b) => readFileSync(b).length - readFileSync(a).length)[0]
}

/** Copies an export under a name that any system can have. */
function keep(metadataFile, name) {
  const target = join(fixtures, name)
  const source = join(metadataFile, '..')
  rmSync(target, { recursive: true, force: true })
  cpSync(source, target, { recursive: true })
  const file = readdirSync(target).find((one) => one.endsWith('.overall_export_metadata'))
  renameSync(join(target, file), join(target, `${name}.overall_export_metadata`))
}

async function writeFixtures(host, metadataFile) {
  mkdirSync(fixtures, { recursive: true })
  keep(metadataFile, 'all')
  const dir = join(folder, 'filtered')
  // It fails on a kind with a slash, which it takes for two folders.
  const entityFilter = { kinds: ['Task', 'Child'], namespaceIds: ['', 'space'] }
  await post(host, `/v1/projects/${project}:export`, { outputUrlPrefix: dir, entityFilter })
  keep(metadataIn(dir), 'filtered')
  const lines = [...(await all(host)).values()].map((entity) => `${JSON.stringify(entity)}\n`)
  writeFileSync(join(fixtures, 'entities.jsonl'), lines.join(''))
}

async function main() {
  const sdk = sdkRoot()
  if (sdk === undefined) {
    console.log('skipped: there is no gcloud, by which the emulators are found')
    return
  }
  const bin = join(root, 'packages/gateway/bin/sixtables.js')
  const ours = await start('sixtables', process.execPath, [bin, 'start', '--testing', '--port', '9775'], 9775)
  for (const { name, command, args, port, exportTo, importFrom } of references) {
    if (!existsSync(join(sdk, command))) {
      console.log(`${name}: skipped, the component is not installed (${command})`)
      continue
    }
    const theirs = await start(name, join(sdk, command), args(port), port)
    await put(theirs, entities)
    const before = await all(theirs)
    const exported = await exportTo(theirs, join(folder, `from-${port}`))
    await post(ours, '/reset', {})
    await post(ours, `/v1/projects/${project}:import`, { inputUrl: exported })
    compare(`${name} → ours`, before, await all(ours))
    if (name === 'Datastore emulator' && process.argv.includes('--write-fixtures'))
      await writeFixtures(theirs, exported)

    await post(ours, '/reset', {})
    await put(ours, entities)
    await put(
      ours,
      onlyOurs.map(({ entity }) => entity),
    )
    const dir = join(folder, `to-${port}`)
    await post(ours, `/v1/projects/${project}:export`, { outputUrlPrefix: dir })
    const mine = metadataIn(dir)
    await post(theirs, '/reset', {})
    await importFrom(theirs, mine)
    const expected = new Map([...(await all(ours))])
    // What only we can say is there as the nearest thing that the format can say.
    for (const { entity, elsewhere } of onlyOurs) {
      for (const [key, one] of expected) {
        if (one.key.path[0].name === entity.key.path[0].name)
          expected.set(key, { ...one, properties: plain(elsewhere) })
      }
    }
    compare(`ours → ${name}`, expected, await all(theirs))
    const again = new Map(await all(ours))
    await post(ours, '/reset', {})
    await post(ours, `/v1/projects/${project}:import`, { inputUrl: mine })
    compare('ours → ours', again, await all(ours))
  }
}

try {
  await main()
} finally {
  for (const { pid } of started) {
    try {
      process.kill(-pid, 'SIGTERM')
    } catch {
      // It is gone already.
    }
  }
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = differences === 0 ? 0 : 1
