/**
 * Exports that Google's Datastore emulator wrote (fixtures/export-legacy, made by npm run compare -- --exports --write-fixtures):
 * they load, and what is loaded is written again byte for byte.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../src/database/database.ts'
import { hexOf } from '../src/encoding/bytes.ts'
import { decodeProperties } from '../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../src/engine/engine.ts'
import type { PathElement } from '../src/model/key.ts'
import { userMeaning, type Value } from '../src/model/value.ts'
import { readLog } from '../src/transfer/leveldb-log.ts'
import { excluded, keyOf } from './property/entity-messages.ts'

const fixtures = fileURLToPath(new URL('fixtures/export-legacy/', import.meta.url))
const all = join(fixtures, 'all', 'all.overall_export_metadata')
const filtered = join(fixtures, 'filtered', 'filtered.overall_export_metadata')

let folder: string
let engine: Engine
let database: Database

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-fixtures-'))
  engine = await openEngine()
  database = engine.database('p')
  await engine.importEntities(database, { metadataFile: all })
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

async function propertyOf(
  path: readonly PathElement[],
  property: string,
  namespaceId = '',
): Promise<Value | undefined> {
  const { found } = await database.lookup(engine.context(), { keys: [keyOf(path, { namespaceId })] })
  return decodeProperties(found[0]?.image.properties ?? new Uint8Array(0)).get(property)
}

async function recordsOf(path: string): Promise<readonly string[]> {
  const records: string[] = []
  for await (const { bytes } of readLog(engine.context(), path)) records.push(hexOf(bytes, ''))
  return records.sort()
}

test('all entities load, and all tables agree', async () => {
  expect(await engine.check()).toMatchObject({ entities: 62, problemCount: 0 })
})

test('what was loaded is exported again with the same records and the same metadata', async () => {
  const dir = join(folder, 'again')
  const { metadataFile, entities } = await engine.exportEntities(database, { dir, name: 'all' })
  expect(entities).toBe(62)
  const output = join('all_namespaces', 'all_kinds', 'output-0')
  expect(await recordsOf(join(dir, output))).toEqual(await recordsOf(join(fixtures, 'all', output)))
  expect(hexOf(readFileSync(metadataFile))).toBe(hexOf(readFileSync(all)))
})

test('a filtered export loads from its folders, and is laid out again in the same ones', async () => {
  const other = await openEngine()
  const loaded = await other.importEntities(other.database('p'), { metadataFile: filtered })
  expect(loaded).toMatchObject({ entities: 5, skipped: 0 })
  const dir = join(folder, 'filtered')
  await other.exportEntities(other.database('p'), { dir, kinds: ['Task', 'Child'], namespaces: ['', 'space'] })
  for (const part of ['default_namespace/kind_Task', 'namespace_space/kind_Child']) {
    expect(await recordsOf(join(dir, part, 'output-0'))).toEqual(
      await recordsOf(join(fixtures, 'filtered', part, 'output-0')),
    )
  }
  expect(hexOf(readFileSync(join(dir, 'filtered.overall_export_metadata')))).toBe(hexOf(readFileSync(filtered)))
  await other.close()
})

describe('a value is what was written to the emulator', () => {
  const micros = BigInt(Date.UTC(2030, 0, 31, 1, 2, 3)) * 1000n + 456_789n
  const timestamp: Value = { type: 'timestamp', micros }
  const blob: Value = { type: 'blob', value: Uint8Array.from(Buffer.from('\0\xff abc', 'latin1')) }
  const key = keyOf([
    { kind: 'A', id: 1n },
    { kind: 'B', name: 'x' },
  ])
  const text = (value: string): Value => excluded({ type: 'string', value })
  const cases: Readonly<Record<string, Value>> = {
    null: { type: 'null' },
    nullExcluded: excluded({ type: 'null' }),
    false: { type: 'boolean', value: false },
    integerMin: { type: 'integer', value: -(2n ** 63n) },
    nan: { type: 'double', value: Number.NaN },
    infinity: { type: 'double', value: Number.NEGATIVE_INFINITY },
    timestamp,
    timestampFirst: { type: 'timestamp', micros: -62_135_596_800_000_000n },
    beyondTimestamps: { type: 'integer', value: 2n ** 63n - 1n, meaning: 7 },
    string: { type: 'string', value: 'héllo 😀' },
    text: { ...text('a text'), meaning: 15 },
    textLong: text('0123456789'.repeat(7000)),
    blob,
    blobExcluded: excluded(blob),
    byteString: { ...excluded(blob), meaning: 16 },
    compressed: { ...excluded(blob), meaning: 22 },
    geoPoint: { type: 'geoPoint', latitude: 1.25, longitude: -2.5 },
    key: { type: 'key', key },
    user: {
      type: 'entity',
      meaning: userMeaning,
      properties: new Map([
        ['email', text('a@example.com')],
        ['auth_domain', text('example.com')],
        ['user_id', text('123')],
      ]),
    },
    entityEmpty: { type: 'entity', properties: new Map() },
    entityWithKey: { type: 'entity', key, properties: new Map([['a', { type: 'integer', value: 1n }]]) },
    arrayOfOne: { type: 'array', values: [{ type: 'integer', value: 1n }] },
    arrayOfNull: { type: 'array', values: [{ type: 'null' }] },
    arrayEmpty: { type: 'array', values: [] },
    arrayMixed: {
      type: 'array',
      values: [
        { type: 'integer', value: 1n },
        { type: 'string', value: 'both' },
        excluded({ type: 'integer', value: 2n }),
      ],
    },
    meaning17: { type: 'string', value: 'x', meaning: 17 },
    rating: { type: 'integer', value: 50n, meaning: 13 },
  }
  test.each(Object.entries(cases))('%s', async (name, value) => {
    expect(await propertyOf([{ kind: 'Value', name }], 'value')).toEqual(value)
  })

  test('under an ancestor, in a namespace', async () => {
    const path = [
      { kind: 'Parent', name: 'par' },
      { kind: 'Middle', id: 77n },
      { kind: 'Child', id: 5n },
    ]
    expect(await propertyOf(path, 'a', 'space')).toEqual({ type: 'integer', value: 1n })
  })
})

test('keys of the exported project become keys of the project that imports', async () => {
  const other = engine.database('elsewhere', 'd')
  await engine.importEntities(other, { metadataFile: all, kinds: ['Value'] })
  const partition = { projectId: 'elsewhere', databaseId: 'd', namespaceId: '' }
  const { found } = await other.lookup(engine.context(), {
    keys: ['key', 'entityWithKey', 'arrayOfAll'].map((name) => keyOf([{ kind: 'Value', name }], partition)),
  })
  const texts = found.map(({ image }) => Buffer.from(image.properties).toString('latin1'))
  for (const text of texts) expect(text).toContain('elsewhere')
  const value = decodeProperties(found[0]?.image.properties ?? new Uint8Array(0)).get('value')
  expect(value?.type === 'key' ? value.key.partition : undefined).toEqual(partition)
})
