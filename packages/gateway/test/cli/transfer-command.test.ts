/** `sixtables export` and `import` against a real server and real folders, in this process. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { progressLines } from '../../src/cli/commands/transfer.ts'
import type { Io } from '../../src/cli/framework/command.ts'
import { startGateway } from '../../src/emulator/server.ts'
import { sixtables } from '../support/cli.ts'

const suffix = '.overall_export_metadata'
const ended: (() => Promise<void>)[] = []
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-cli-transfer-'))
})
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: readonly string[]) => sixtables(args, { cwd: folder })

/** A server with two entities in project demo; its address. */
async function server(): Promise<string> {
  const engine = await openEngine()
  const gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  ended.push(
    () => engine.close(),
    () => gateway.close(),
  )
  const address = `127.0.0.1:${gateway.port}`
  await put(address, 'demo', [
    ['ToDo', 1],
    ['Note', 2],
  ])
  return address
}

async function put(
  address: string,
  project: string,
  keys: readonly (readonly [kind: string, id: number])[],
): Promise<void> {
  const mutations = keys.map(([kind, id]) => ({ upsert: { key: { path: [{ kind, id }] } } }))
  const response = await fetch(`http://${address}/v1/projects/${project}:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations }),
  })
  expect(response.status).toBe(200)
}

async function kinds(address: string, project: string): Promise<readonly string[]> {
  const response = await fetch(`http://${address}/v1/projects/${project}:runQuery`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: {} }),
  })
  const { batch } = (await response.json()) as {
    batch: { entityResults?: { entity: { key: { path: [{ kind: string }] } } }[] }
  }
  return (batch.entityResults ?? []).map(({ entity }) => entity.key.path[0].kind)
}

test('an export or import that is stopped says what becomes of it, and how to end it', async () => {
  // As if the signal came at the last moment.
  const onSignal: Io['onSignal'] = (stop) => () => stop('SIGINT')
  const stopped = async (...args: readonly string[]) => (await sixtables(args, { cwd: folder, onSignal })).err
  const endpoint = await server()
  const url = `curl -X POST ${endpoint}/v1/projects/demo/operations/`
  expect(await stopped('export', 'backup', '--endpoint', endpoint)).toContain(
    `sixtables: the export goes on in the server; to end it: ${url}`,
  )
  expect(await stopped('import', 'backup', '--endpoint', endpoint)).toMatch(
    /the import goes on in the server; .*:cancel$/,
  )
  expect(await stopped('import', 'backup', '--data-dir', 'd')).toBe(
    'sixtables: ended before the end of the import; what is written stays',
  )
  expect(await stopped('export', 'again', '--data-dir', 'd')).toBe(
    'sixtables: ended before the end of the export; delete its folder before you run it again',
  )
  const atOnce: Io['onSignal'] = (stop) => {
    stop('SIGINT')
    return () => {}
  }
  const unanswered = await sixtables(['export', 'third', '--endpoint', endpoint], { cwd: folder, onSignal: atOnce })
  expect(unanswered.err).toBe('sixtables: the export may have begun in the server, and goes on there then')
})

test('a filter that no entity passes is an error, and leaves no folder', async () => {
  const endpoint = await server()
  const at = ['--endpoint', endpoint]
  const none = 'sixtables: no entity matches --kind Nothing; '
  const kinds = 'there are the kinds Note, ToDo'
  expect(await run('export', 'a', '--kind', 'Nothing', ...at)).toEqual({ code: 1, out: '', err: none + kinds })
  expect(existsSync(join(folder, 'a'))).toBe(false)
  expect(await run('dump', '--kind', 'Nothing', ...at)).toEqual({ code: 1, out: '', err: none + kinds })
  expect((await run('dump', '--kind', 'ToDo', '--namespace', 'n', ...at)).err).toBe(
    "sixtables: no entity matches --kind ToDo --namespace n; there is the namespace ''; in all namespaces there are the kinds Note, ToDo",
  )
  expect((await run('export', 'a', '--kind', 'Nothing', '--kind', 'ToDo', ...at)).code).toBe(0)
  expect(await run('import', 'a', '--kind', 'Nothing', ...at)).toEqual({
    code: 1,
    out: '',
    err: `${none}the export has 1 entity of other kinds or namespaces`,
  })
  expect((await run('export', 'empty', '--project', 'other', ...at)).code).toBe(0)
  expect((await run('dump', '--project', 'other', ...at)).out).toBe('entities: []')
})

describe('beside a running server', () => {
  test('export says how to load it again, and import does', async () => {
    const endpoint = await server()
    const file = join(folder, 'backup', `backup${suffix}`)
    expect(await run('export', 'backup', '--endpoint', endpoint)).toEqual({
      code: 0,
      out: `Exported 2 entities. To load them again: sixtables import ${file}`,
      err: '',
    })
    expect(existsSync(file)).toBe(true)
    const imported = await run('import', join('backup', `backup${suffix}`), '--endpoint', endpoint, '--project', 'copy')
    expect(imported).toEqual({ code: 0, out: 'Imported 2 entities.', err: '' })
    expect(await kinds(endpoint, 'copy')).toEqual(['Note', 'ToDo'])
  })

  test('a kind can be chosen, and the answer be JSON', async () => {
    const endpoint = await server()
    const exported = await run('export', 'notes', '--kind', 'Note', '--json', '--endpoint', endpoint)
    expect(JSON.parse(exported.out)).toEqual({
      entities: 1,
      bytes: expect.any(Number),
      metadataFile: join(folder, 'notes', `notes${suffix}`),
    })
    expect(readdirSync(join(folder, 'notes', 'all_namespaces'))).toEqual(['kind_Note'])
    const imported = await run('import', 'notes', '--kind', 'Note', '--json', '--endpoint', endpoint)
    expect(JSON.parse(imported.out)).toEqual({ entities: 1, bytes: expect.any(Number) })
    const none = await run('import', 'notes', '--namespace', 'other', '--json', '--endpoint', endpoint)
    expect(none).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('no entity matches --namespace other;'),
    })
  })

  test('what the server refuses is one line and exit code 1', async () => {
    const endpoint = await server()
    const broken = join(folder, `broken${suffix}`)
    writeFileSync(broken, 'no export at all')
    const { code, err } = await run('import', broken, '--endpoint', endpoint)
    expect(code).toBe(1)
    expect(err).toMatch(/^sixtables: .*broken\.overall_export_metadata is damaged at byte 0: .*$/)
  })
})

describe('on a closed folder', () => {
  test('import makes a store, export reads it, and what is there stays', async () => {
    const endpoint = await server()
    await run('export', 'backup', '--endpoint', endpoint)
    expect(await run('import', 'backup', '--data-dir', 'store')).toEqual({
      code: 0,
      out: 'Imported 2 entities.',
      err: '',
    })
    expect((await run('export', 'again', '--data-dir', 'store')).out).toContain('Exported 2 entities.')
    expect((await run('check', '--data-dir', 'store')).out).toContain('Looked at 2 entities')
    expect((await run('import', 'again', '--endpoint', endpoint, '--database', 'd')).out).toBe('Imported 2 entities.')
  })

  test('a damaged export leaves exit code 1', async () => {
    writeFileSync(join(folder, `broken${suffix}`), '')
    const { code, err } = await run('import', `broken${suffix}`, '--data-dir', 'store')
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('is empty') })
  })
})

describe('what cannot be carried out as asked has exit code 2', () => {
  test.each([
    [['export'], 'name the folder to write'],
    [['import'], 'name the metadata file of an export'],
    [['export', '.'], 'exists already; name a folder that does not'],
    [['import', 'none'], 'there is no file'],
    [['export', 'x', '--data-dir', 'none'], 'there is no folder'],
    [['export', 'x', '--data-dir', 'a', '--endpoint', 'b:1'], 'give one of them'],
    [['export', 'x', '--endpoint', '127.0.0.1:1'], 'no server answers on 127.0.0.1:1'],
    [['import', 'x', '--kinf', 'a'], 'did you mean --kind?'],
    [['exprot', 'x'], 'did you mean export?'],
  ] as const)('%j', async (args, words) => {
    const { code, err } = await run(...args)
    expect(err).toContain(words)
    expect(code).toBe(2)
  })
})

test('progress is said at most once a second, and only what is new', () => {
  const said: string[] = []
  let now = 0
  const io = { now: () => now, err: (line: string) => said.push(line) } as unknown as Io
  const progress = progressLines(io, 'Imported')
  for (const [at, entities] of [
    [-1000, 0],
    [500, 10],
    [1000, 20],
    [1400, 30],
    [2100, 40],
    [3200, 40],
  ] as const) {
    now = at
    progress(entities, 100)
  }
  expect(said).toEqual(['Imported 20 of 100 entities …', 'Imported 40 of 100 entities …'])
})

test('an existing empty folder is refused too', async () => {
  mkdirSync(join(folder, 'there'))
  expect((await run('export', 'there')).code).toBe(2)
})

test.each([
  ['a/b', '"a/b" is an invalid project id'],
  ['Demo', '"Demo" is an invalid project id'],
])('a project %s that no key can have is refused in the words of put', async (project, words) => {
  const wanted = { code: 2, err: expect.stringContaining(words) }
  expect(await run('export', 'backup', '--data-dir', 'data', '--project', project)).toMatchObject(wanted)
  expect(await run('put', 'ToDo:1', '{"done": true}', '--data-dir', 'data', '--project', project)).toMatchObject(wanted)
  expect(existsSync(join(folder, 'backup'))).toBe(false)
})
