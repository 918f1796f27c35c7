import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encodeKey } from '../encoding/entity-codec.ts'
import { WireWriter } from '../encoding/wire.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { PathElement } from '../model/key.ts'
import { turnScheduler } from '../testing/turn-scheduler.ts'
import { decodeOverallMetadata } from './export-metadata.ts'
import { readLog } from './leveldb-log.ts'

let folder: string
let engine: Engine
let made = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-export-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  engine = await openEngine()
})
afterEach(async () => {
  await engine.close()
})

async function put(namespaceId: string, ...paths: readonly (readonly PathElement[])[]): Promise<void> {
  await engine.database('p').commit(engine.context(), {
    mode: 'nonTransactional',
    mutations: paths.map((path) => {
      const writer = new WireWriter()
      writer.bytes(1, encodeKey({ partition: { projectId: 'p', databaseId: '', namespaceId }, path }))
      return { operation: 'upsert', entity: writer.finish() }
    }),
  })
}

const entity = (kind: string, name = 'n'): readonly PathElement[] => [{ kind, name }]

function newFolder(): string {
  return join(folder, `export-${made++}`)
}

function files(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /metadata$|output-\d+$/.test(name))
    .sort()
}

async function partsOf(metadataFile: string): Promise<readonly unknown[]> {
  const records: Buffer[] = []
  for await (const { bytes } of readLog(engine.context(), metadataFile)) records.push(Buffer.from(bytes))
  expect(records[0]?.toString()).toBe('3')
  return decodeOverallMetadata(records[1] ?? Buffer.of()).map(({ scope, path, entities }) => ({
    ...scope,
    path,
    entities,
  }))
}

describe('the folders of an export', () => {
  test('without a filter are one, for all namespaces and kinds', async () => {
    await put('', entity('A'), entity('B'))
    await put('n', entity('A'))
    const dir = newFolder()
    const report = await engine.exportEntities(engine.database('p'), { dir, name: 'name' })
    expect(report).toEqual({
      entities: 3,
      bytes: expect.any(Number),
      metadataFile: join(dir, 'name.overall_export_metadata'),
    })
    expect(files(dir)).toEqual([
      'all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata',
      'all_namespaces/all_kinds/output-0',
      'name.overall_export_metadata',
    ])
  })

  test('with filters are one for each namespace and kind that has entities', async () => {
    await put('', entity('A'), entity('B'))
    await put('n', entity('A'), entity('C'))
    const dir = newFolder()
    const { metadataFile } = await engine.exportEntities(engine.database('p'), {
      dir,
      kinds: ['A', 'B', 'none'],
      namespaces: ['', 'n'],
    })
    expect(await partsOf(metadataFile)).toEqual([
      {
        namespaceId: '',
        kind: 'A',
        entities: 1,
        path: 'default_namespace/kind_A/default_namespace_kind_A.export_metadata',
      },
      {
        namespaceId: '',
        kind: 'B',
        entities: 1,
        path: 'default_namespace/kind_B/default_namespace_kind_B.export_metadata',
      },
      { namespaceId: 'n', kind: 'A', entities: 1, path: 'namespace_n/kind_A/namespace_n_kind_A.export_metadata' },
    ])
  })

  test('have names that every system can have, and never two of them one', async () => {
    const kinds = ['Slash/Kind', '..', 'task', 'Task', 'ä', 'x'.repeat(1000), `${'x'.repeat(1000)}y`, 'a%2Fb', 'a/b']
    await put('', ...kinds.map((kind) => entity(kind)))
    const dir = newFolder()
    const { metadataFile, entities } = await engine.exportEntities(engine.database('p'), { dir, kinds })
    expect(entities).toBe(kinds.length)
    const folders = readdirSync(join(dir, 'all_namespaces'))
    expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(kinds.length)
    for (const name of folders) expect(name).toMatch(/^kind_[\w.~%-]{1,110}$/)
    const copy = engine.database('copy')
    expect(await engine.importEntities(copy, { metadataFile })).toMatchObject({ entities: kinds.length })
  })

  test('are at most 1,000, since each has a chunk in memory', async () => {
    const kinds = Array.from({ length: 1001 }, (_, i) => `K${i}`)
    await put('', ...kinds.map((kind) => entity(kind)))
    const dir = newFolder()
    await expect(engine.exportEntities(engine.database('p'), { dir, kinds })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('more than 1000 pairs of a namespace and a kind'),
    })
    expect(existsSync(dir)).toBe(false)
  })

  test('of a database without entities is none, and it can be imported', async () => {
    const dir = newFolder()
    const { metadataFile, entities } = await engine.exportEntities(engine.database('p'), { dir })
    expect(entities).toBe(0)
    expect(files(dir)).toEqual([`${dir.split('/').at(-1)}.overall_export_metadata`])
    expect(await engine.importEntities(engine.database('q'), { metadataFile })).toMatchObject({ entities: 0 })
  })
})

test('a folder that exists is refused and left as it is', async () => {
  const dir = newFolder()
  mkdirSync(dir)
  await expect(engine.exportEntities(engine.database('p'), { dir })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: `the export folder ${dir} exists already; name one that does not`,
  })
  expect(readdirSync(dir)).toEqual([])
})

test('a name that is no name of a file is refused before anything is written', async () => {
  for (const name of ['', '..', 'a/b', 'a\\b', 'a\0b']) {
    const dir = newFolder()
    await expect(engine.exportEntities(engine.database('p'), { dir, name })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(existsSync(dir)).toBe(false)
  }
})

test('an export that fails takes its folder away', async () => {
  await put('', ...Array.from({ length: 600 }, (_, i) => entity('A', `${i}`)))
  const dir = newFolder()
  const abort = new AbortController()
  const cancelled = engine.exportEntities(engine.database('p'), {
    dir,
    signal: abort.signal,
    onProgress: () => abort.abort(),
  })
  await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(existsSync(dir)).toBe(false)
})

test('a place that cannot be written is said', async () => {
  const closed = newFolder()
  mkdirSync(closed)
  chmodSync(closed, 0o500)
  // A superuser may write anywhere: then the file in the place of a folder has to do.
  const dir = process.getuid?.() === 0 ? join('/dev/null', 'export') : join(closed, 'export')
  await expect(engine.exportEntities(engine.database('p'), { dir })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining(dir),
  })
})

test('commits that are not applied are taken into the export in many turns', async () => {
  let turns = 0
  const held = await openEngine({ apply: { type: 'manual' }, scheduler: turnScheduler(() => turns++) })
  await held.database('p').commit(held.context(), {
    mode: 'nonTransactional',
    mutations: Array.from({ length: 9000 }, (_, i) => {
      const writer = new WireWriter()
      writer.bytes(
        1,
        encodeKey({ partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: entity('A', `${i}`) }),
      )
      return { operation: 'upsert', entity: writer.finish() }
    }),
  })
  turns = 0
  // A filter without entities: only the rows are read.
  await held.exportEntities(held.database('p'), { dir: newFolder(), kinds: ['none'] })
  expect(turns).toBeGreaterThanOrEqual(4)
  await held.close()
})

// Other systems may have a folder of that name, or none.
test.skipIf(process.platform !== 'linux')('a place below /proc is refused, and not tried for ever', async () => {
  await expect(engine.exportEntities(engine.database('p'), { dir: '/proc/none/export' })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('/proc/none/export cannot be written'),
  })
})

test('entities of other databases and projects stay out', async () => {
  await put('', entity('A'))
  await engine.importEntities(engine.database('p', 'd'), {
    metadataFile: (await engine.exportEntities(engine.database('p'), { dir: newFolder() })).metadataFile,
  })
  await put('', entity('B'))
  const { entities } = await engine.exportEntities(engine.database('p', 'd'), { dir: newFolder() })
  expect(entities).toBe(1)
})
