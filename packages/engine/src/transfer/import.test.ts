import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { WireWriter } from '../encoding/wire.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Value } from '../model/value.ts'
import { runAtOnce, sliceWorkMax } from '../slices.ts'
import { turnScheduler } from '../testing/turn-scheduler.ts'
import { encodeEntityProto } from './entity-proto-v3.ts'
import { encodeOverallMetadata, encodePartMetadata, formatRecord } from './export-metadata.ts'
import { LogWriter } from './leveldb-log.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const entityCount = 700

let folder: string
let whole: string
let engine: Engine
let made = 0

function entityOf(id: number, value: Value): Uint8Array {
  const writer = new WireWriter()
  writer.bytes(1, encodeKey({ partition, path: [{ kind: 'K', id: BigInt(id) }] }))
  writer.raw(encodeProperties(new Map([['v', value]])))
  return writer.finish()
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-import-'))
  whole = join(folder, 'whole')
  const source = await openEngine()
  await source.database('p').commit(source.context(), {
    mode: 'nonTransactional',
    mutations: Array.from({ length: entityCount }, (_, i) => ({
      operation: 'upsert' as const,
      entity: entityOf(i + 1, { type: 'string', value: 'x'.repeat(i % 300) }),
    })),
  })
  await source.exportEntities(source.database('p'), { dir: whole })
  await source.close()
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

/** A copy of the export that a test may damage. */
function copy(): { metadataFile: string; part: string; output: string } {
  const dir = join(folder, `copy-${made++}`)
  cpSync(whole, dir, { recursive: true })
  const part = join(dir, 'all_namespaces', 'all_kinds')
  return {
    metadataFile: join(dir, 'whole.overall_export_metadata'),
    part: join(part, 'all_namespaces_all_kinds.export_metadata'),
    output: join(part, 'output-0'),
  }
}

async function entitiesInStore(): Promise<number> {
  return (await engine.check()).entities
}

function importOf(metadataFile: string): Promise<unknown> {
  return engine.importEntities(engine.database('p'), { metadataFile })
}

describe('an export that is damaged is refused whole', () => {
  test('with one changed byte near its end', async () => {
    const { metadataFile, output } = copy()
    const bytes = readFileSync(output)
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1
    writeFileSync(output, bytes)
    await expect(importOf(metadataFile)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/output-0 is damaged at byte \d+: the checksum/),
    })
    expect(await entitiesInStore()).toBe(0)
  })

  test('cut off within an entity', async () => {
    const { metadataFile, output } = copy()
    const bytes = readFileSync(output)
    writeFileSync(output, bytes.subarray(0, bytes.length - 3))
    await expect(importOf(metadataFile)).rejects.toThrow(/output-0 is damaged at byte \d+: the file ends within/)
    expect(await entitiesInStore()).toBe(0)
  })

  test('cut off between two entities, by its count', async () => {
    const { metadataFile, output } = copy()
    writeFileSync(output, readFileSync(output).subarray(0, 0))
    await expect(importOf(metadataFile)).rejects.toThrow(
      'all_namespaces_all_kinds.export_metadata has 700 entities, its files have 0; a file is missing or cut off',
    )
    expect(await entitiesInStore()).toBe(0)
  })

  test('without a file that it names', async () => {
    for (const missing of ['part', 'output'] as const) {
      const files = copy()
      rmSync(files[missing])
      await expect(importOf(files.metadataFile)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining(files[missing]),
      })
    }
    expect(await entitiesInStore()).toBe(0)
  })

  test('with metadata that is none', async () => {
    const { metadataFile, part } = copy()
    writeFileSync(part, 'no protocol buffer')
    await expect(importOf(metadataFile)).rejects.toThrow(`${part} is damaged: malformed protocol buffer at byte`)
    writeFileSync(metadataFile, '')
    await expect(importOf(metadataFile)).rejects.toThrow(`${metadataFile} is empty`)
    writeFileSync(metadataFile, 'something else altogether')
    await expect(importOf(metadataFile)).rejects.toThrow(`${metadataFile} is damaged at byte 0`)
  })
})

test('a file that is not the overall metadata file is refused with what is wanted', async () => {
  await expect(importOf(copy().output)).rejects.toThrow(/given the file that ends in \.overall_export_metadata/)
  await expect(importOf(join(folder, 'none.overall_export_metadata'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

/** An export by hand, of these records. */
async function handmade(records: readonly Uint8Array[], output = 'output-0'): Promise<string> {
  const dir = join(folder, `handmade-${made++}`)
  cpSync(whole, dir, { recursive: true })
  const part = 'all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata'
  const outputs = [{ kind: '', file: output }]
  writeFileSync(join(dir, part), encodePartMetadata({ exportName: 'x', startedAt: 1n, endedAt: 2n, outputs }))
  const scope = { namespaceId: undefined, kind: undefined }
  const overall = encodeOverallMetadata([{ scope, path: part, entities: records.length, bytes: 0 }])
  const metadataFile = join(dir, 'whole.overall_export_metadata')
  await writeLog(metadataFile, [formatRecord, overall])
  await writeLog(join(dir, 'all_namespaces', 'all_kinds', 'output-0'), records)
  return metadataFile
}

async function writeLog(path: string, records: readonly Uint8Array[]): Promise<void> {
  rmSync(path, { force: true })
  const log = new LogWriter(path)
  for (const record of records) await log.add(record)
  await log.flush()
}

function recordOf(id: number, value: Value = { type: 'null' }, kind = 'K'): Uint8Array {
  return runAtOnce(encodeEntityProto({ partition, path: [{ kind, id: BigInt(id) }] }, new Map([['v', value]])))
}

test('an entity that may not be written is named with its place; the batches before it are written, its own is not', async () => {
  const records = Array.from({ length: 600 }, (_, i) => recordOf(i + 1))
  records[550] = recordOf(551, { type: 'string', value: 'x'.repeat(2000) })
  await expect(importOf(await handmade(records))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/the entity at byte \d+ of .*output-0: .*property "v" has 2000 bytes, at most 1500/),
  })
  expect(await entitiesInStore()).toBe(500)
  expect(await engine.check()).toMatchObject({ problemCount: 0 })
})

test('a record that is no entity is named with its place', async () => {
  const records = [recordOf(1), Buffer.from('\x72\x05abc')]
  await expect(importOf(await handmade(records))).rejects.toThrow(/the entity at byte \d+ of .*output-0: malformed/)
  await expect(importOf(await handmade([Buffer.from([])]))).rejects.toThrow('the entity has no key')
  await expect(importOf(await handmade([recordOf(1, { type: 'null' }, '__Stat__')]))).rejects.toThrow('is reserved')
})

test('an entity that comes twice is there as it came last', async () => {
  const records = [recordOf(1, { type: 'integer', value: 1n }), recordOf(1, { type: 'integer', value: 2n })]
  await importOf(await handmade(records))
  const { found } = await engine.database('p').lookup(engine.context(), {
    keys: [{ partition, path: [{ kind: 'K', id: 1n }] }],
  })
  expect(found[0]?.image.properties).toEqual(encodeProperties(new Map([['v', { type: 'integer', value: 2n }]])))
})

test('files outside of the export are not read', async () => {
  await expect(importOf(await handmade([], '../../../whole/all_namespaces/all_kinds/output-0'))).rejects.toThrow(
    /which is not below the folder of the export/,
  )
  const metadataFile = await handmade([])
  const scope = { namespaceId: undefined, kind: undefined }
  for (const path of [
    '../whole/all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata',
    'x/../../whole',
    '..',
  ]) {
    await writeLog(metadataFile, [formatRecord, encodeOverallMetadata([{ scope, path, entities: 0, bytes: 0 }])])
    await expect(importOf(metadataFile)).rejects.toThrow(/which is not below the folder of the export/)
  }
})

test('metadata that list too much, or too long paths, are refused before any of it is read', async () => {
  const metadataFile = await handmade([])
  const partFile = join(
    dirname(metadataFile),
    'all_namespaces',
    'all_kinds',
    'all_namespaces_all_kinds.export_metadata',
  )
  writeFileSync(partFile, Buffer.alloc(20_002, Buffer.from([0x12, 0])))
  await expect(importOf(metadataFile)).rejects.toThrow(`${partFile} is damaged: it lists more than 10000 files`)
  writeFileSync(partFile, '')
  truncateSync(partFile, 1e9)
  await expect(importOf(metadataFile)).rejects.toThrow('has 1000000000 bytes, at most 4194304 are read')
  await writeLog(metadataFile, [formatRecord, Buffer.alloc(20_002, Buffer.from([0x0a, 0]))])
  await expect(importOf(metadataFile)).rejects.toThrow(`${metadataFile} is damaged: it lists more than 10000 files`)
  truncateSync(metadataFile, 1e9)
  await expect(importOf(metadataFile)).rejects.toThrow('has 1000000000 bytes, at most 4194304 are read')
  const scope = { namespaceId: undefined, kind: undefined }
  const path = 'x'.repeat(5000)
  await writeLog(metadataFile, [formatRecord, encodeOverallMetadata([{ scope, path, entities: 0, bytes: 0 }])])
  await expect(importOf(metadataFile)).rejects.toThrow(/names a path of \d+ characters, at most 4096 are read/)
})

/** An engine that counts the turns of long work. */
async function countedEngine(): Promise<{ readonly counted: Engine; readonly count: { turns: number } }> {
  const count = { turns: 0 }
  return { counted: await openEngine({ scheduler: turnScheduler(() => count.turns++) }), count }
}

test('an entity with a long array is exported, and imported, some elements in a turn', async () => {
  const { counted, count } = await countedEngine()
  const database = counted.database('p')
  const length = 100_000
  const values = Array.from({ length }, () => ({ type: 'boolean' as const, value: true, excludeFromIndexes: true }))
  const entity = entityOf(1, { type: 'array', values })
  await database.commit(counted.context(), { mode: 'nonTransactional', mutations: [{ operation: 'upsert', entity }] })
  const dir = join(folder, 'long-array')
  count.turns = 0
  const { metadataFile } = await counted.exportEntities(database, { dir })
  expect(count.turns).toBeGreaterThanOrEqual(Math.floor((2 * length) / sliceWorkMax))
  count.turns = 0
  await counted.importEntities(counted.database('q'), { metadataFile })
  expect(count.turns).toBeGreaterThanOrEqual(Math.floor(length / sliceWorkMax))
  const key = { partition: { ...partition, projectId: 'q' }, path: [{ kind: 'K', id: 1n }] }
  const { found } = await counted.database('q').lookup(counted.context(), { keys: [key] })
  expect(
    Buffer.from(found[0]?.image.properties ?? []).equals(encodeProperties(new Map([['v', { type: 'array', values }]]))),
  ).toBe(true)
  await counted.close()
})

test('an import that is cancelled within a long array blames no entity', async () => {
  let abort = new AbortController()
  let left = Number.POSITIVE_INFINITY
  const scheduler = turnScheduler(() => {
    if (--left === 0) abort.abort()
  })
  const cancelled = await openEngine({ scheduler })
  const values = Array.from({ length: 60_000 }, () => ({ type: 'null' as const, excludeFromIndexes: true }))
  const metadataFile = await handmade([recordOf(1, { type: 'array', values })])
  for (let turns = 1; turns < 9; turns++) {
    abort = new AbortController()
    left = turns
    const imported = cancelled.importEntities(cancelled.database('p'), { metadataFile, signal: abort.signal })
    await expect(imported).rejects.toThrow(/^the call was cancelled by the client$/)
  }
  await cancelled.close()
})

test('long paths are reserved a few keys in a turn', async () => {
  const { counted, count } = await countedEngine()
  const path = Array.from({ length: 100 }, (_, at) => ({ kind: `K${at}`, id: 1n }))
  const records = Array.from({ length: 200 }, (_, i) => {
    const key = { partition, path: [{ kind: 'K', id: BigInt(i + 1) }, ...path.slice(1)] }
    return runAtOnce(encodeEntityProto(key, new Map()))
  })
  const metadataFile = await handmade(records)
  count.turns = 0
  await counted.importEntities(counted.database('p'), { metadataFile })
  // The keys are checked, then reserved.
  expect(count.turns).toBeGreaterThanOrEqual(Math.floor((2 * 200 * path.length) / sliceWorkMax))
  await counted.close()
})

test('an export of another format is refused, with what to do', async () => {
  const metadataFile = await handmade([])
  const scope = { namespaceId: undefined, kind: undefined }
  const overall = encodeOverallMetadata([{ scope, path: 'all_namespaces', entities: 0, bytes: 0 }])
  await writeLog(metadataFile, [Buffer.from('4'), overall])
  await expect(importOf(metadataFile)).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringMatching(
      /has the export format "4", and this version of sixtables reads format "3": import it with/,
    ),
  })
})

test('progress is told with totals', async () => {
  const told: unknown[] = []
  const report = await engine.importEntities(engine.database('p'), {
    metadataFile: copy().metadataFile,
    onProgress: (progress) => told.push(progress),
  })
  expect(report).toMatchObject({ entities: entityCount, skipped: 0 })
  expect(told.map((one) => (one as { entities: number }).entities)).toEqual([250, 500, 700])
  expect(told.at(-1)).toMatchObject({ entitiesTotal: entityCount, bytes: report.bytes, bytesTotal: report.bytes })
})

test('a cancelled import leaves whole batches, and nothing after them', async () => {
  const abort = new AbortController()
  const cancelled = engine.importEntities(engine.database('p'), {
    metadataFile: copy().metadataFile,
    signal: abort.signal,
    onProgress: () => abort.abort(),
  })
  await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(await entitiesInStore()).toBe(250)
})
