/**
 * `npm run compare -- --exports`: exports and imports against Google's emulators.
 *
 *   theirs → ours   entities of every kind of value are written to theirs, exported by it, imported by us, and compared
 *   ours → theirs   the same the other way round, with a value in it that only we can say
 *
 * The entities are the lines of entities.jsonl in packages/engine/test/fixtures/export-legacy/, in the JSON of the data API: a new line
 * is a new case. `--write-fixtures` also keeps the exports of the Datastore emulator there, so that tests need no emulator.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Mode } from './case.ts'
import type { Server } from './server.ts'

const project = 'p'
const metadataEnd = '.overall_export_metadata'
const entitiesFile = 'entities.jsonl'

interface Entity {
  readonly key: object
  readonly properties?: object
}

/** The array 1, 2, 3, 4, with 1 and 3 excluded from indexes. Google's emulators read it as 2, 4, 1, 3. */
const interleaved: Entity = {
  key: { partitionId: { projectId: project }, path: [{ kind: 'Value', name: 'arrayInterleaved' }] },
  properties: { value: arrayOf(excluded(1), integer(2), excluded(3), integer(4)) },
}
const asTheyRead = { value: arrayOf(integer(2), integer(4), excluded(1), excluded(3)) }

type Found = ReadonlyMap<string, Entity>

export interface ExportOptions {
  readonly mode: Mode
  readonly ours: Server
  readonly theirs: Server
  readonly fixtures: string
  /** Whether the exports of the Datastore emulator are written there. */
  readonly isWritten: boolean
  readonly say: (line: string) => void
}

/** @returns the number of entities that differ */
export async function compareExports(options: ExportOptions): Promise<number> {
  const { mode, ours, theirs, fixtures, isWritten, say } = options
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-compare-'))
  const lines = readFileSync(join(fixtures, entitiesFile), 'utf8').trim().split('\n')
  const entities = lines.map((line): Entity => JSON.parse(line))
  try {
    await put(theirs, entities)
    const before = await all(theirs)
    const exported = await exportOf(mode, theirs, join(folder, 'from'))
    await theirsToOurs(ours, exported)
    let different = differences(say, `${theirs.name} → ours`, before, await all(ours))
    if (mode === 'legacy' && isWritten) await writeFixtures(theirs, exported, { fixtures, folder })

    await post(ours, '/reset', {})
    await put(ours, [...entities, interleaved])
    const mine = await exportOf('legacy', ours, join(folder, 'to'))
    await post(theirs, '/reset', {})
    await importInto(mode, theirs, mine)
    const written = await all(ours)
    const read = new Map(written).set(JSON.stringify(interleaved.key), { ...interleaved, properties: asTheyRead })
    different += differences(say, `ours → ${theirs.name}`, read, await all(theirs))
    await theirsToOurs(ours, mine)
    return different + differences(say, 'ours → ours', written, await all(ours))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function theirsToOurs(ours: Server, inputUrl: string): Promise<void> {
  await post(ours, '/reset', {})
  await importInto('legacy', ours, inputUrl)
}

function integer(value: number): object {
  return { integerValue: String(value) }
}

function excluded(value: number): object {
  return { ...integer(value), excludeFromIndexes: true }
}

function arrayOf(...values: readonly object[]): object {
  return { arrayValue: { values } }
}

async function post(server: Server, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://localhost:${server.port}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${server.name}${path}: ${response.status} ${text.slice(0, 300)}`)
  return text.startsWith('{') ? JSON.parse(text) : {}
}

async function put(server: Server, some: readonly Entity[]): Promise<void> {
  for (const entity of some) {
    const commit = { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: entity }] }
    await post(server, `/v1/projects/${project}:commit`, commit)
  }
}

async function all(server: Server): Promise<Found> {
  const found = new Map<string, Entity>()
  for (const namespaceId of ['', 'space', 'n.s-1']) {
    const query = { partitionId: { namespaceId }, query: {} }
    const { batch } = (await post(server, `/v1/projects/${project}:runQuery`, query)) as {
      readonly batch: { readonly entityResults?: readonly { readonly entity: Entity }[] }
    }
    for (const { entity } of batch.entityResults ?? []) found.set(JSON.stringify(entity.key), entity)
  }
  return found
}

function differences(say: ExportOptions['say'], what: string, expected: Found, found: Found): number {
  const keys = [...new Set([...expected.keys(), ...found.keys()])]
  const different = keys.filter((key) => !isDeepStrictEqual(expected.get(key), found.get(key)))
  for (const key of different) {
    const [a, b] = [expected, found].map((one) => JSON.stringify(one.get(key)?.properties))
    say(`  ${key}\n    before ${a}\n    after  ${b}`)
  }
  say(`${what}: ${keys.length} entities, ${different.length} different`)
  return different.length
}

/** @returns the metadata file */
async function exportOf(mode: Mode, server: Server, dir: string): Promise<string> {
  if (mode === 'legacy') await post(server, `/v1/projects/${project}:export`, { outputUrlPrefix: dir })
  else {
    mkdirSync(dir)
    const names = { database: `projects/${project}/databases/`, export_directory: dir, export_name: 'theirs' }
    await post(server, `/emulator/v1/projects/${project}:export`, names)
  }
  return metadataIn(dir)
}

async function importInto(mode: Mode, server: Server, path: string): Promise<void> {
  if (mode === 'legacy') await post(server, `/v1/projects/${project}:import`, { inputUrl: path })
  else {
    const names = { database: `projects/${project}/databases/`, export_directory: path }
    await post(server, `/emulator/v1/projects/${project}:import`, names)
  }
}

/** The overall metadata file below a folder; with several, the one that lists the most. */
function metadataIn(dir: string): string {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const found = files.filter((name) => name.endsWith(metadataEnd)).map((name) => join(dir, name))
  const [largest] = found.sort((a, b) => readFileSync(b).length - readFileSync(a).length)
  if (largest === undefined) throw new Error(`there is no export in ${dir}`)
  return largest
}

/** Copies an export under a name that any system can have. */
function keep(metadataFile: string, fixtures: string, name: string): void {
  const target = join(fixtures, name)
  rmSync(target, { recursive: true, force: true })
  cpSync(join(metadataFile, '..'), target, { recursive: true })
  renameSync(metadataIn(target), join(target, `${name}${metadataEnd}`))
}

async function writeFixtures(
  server: Server,
  metadataFile: string,
  { fixtures, folder }: { readonly fixtures: string; readonly folder: string },
): Promise<void> {
  keep(metadataFile, fixtures, 'all')
  const dir = join(folder, 'filtered')
  // It fails on a kind with a slash, which it takes for two folders.
  const entityFilter = { kinds: ['Task', 'Child'], namespaceIds: ['', 'space'] }
  await post(server, `/v1/projects/${project}:export`, { outputUrlPrefix: dir, entityFilter })
  keep(metadataIn(dir), fixtures, 'filtered')
  const lines = [...(await all(server)).values()].map((entity) => `${JSON.stringify(entity)}\n`)
  writeFileSync(join(fixtures, entitiesFile), lines.join(''))
}
