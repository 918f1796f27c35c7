/**
 * Export and import of whole databases, against what was put in:
 *
 *   - what is exported from one engine and imported into an empty one is the same keys and properties, and passes the check
 *   - an export is one moment, and has what is committed but held back
 *   - ids             no id that came with an import is given again
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Database } from '../../src/database/database.ts'
import { decodeProperties, encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { prepareEntity } from '../../src/encoding/validate-entity.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import { scatteredIdMin, scatterId } from '../../src/ids/scatter.ts'
import type { Key, PathElement } from '../../src/model/key.ts'
import type { Value } from '../../src/model/value.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { kinds, names, propertyMaps } from '../support/arbitraries.ts'
import { entity as entityMessage, field, integer, joined, keyOf, property } from './entity-messages.ts'

let folder: string
let made = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-transfer-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  return join(folder, `export-${made++}`)
}

interface Entity {
  readonly key: Key
  readonly properties: ReadonlyMap<string, Value>
}

function messageOf({ key, properties }: Entity): Uint8Array {
  return joined(field(1, encodeKey(key)), encodeProperties(properties))
}

function isValid(entity: Entity): boolean {
  try {
    prepareEntity(messageOf(entity), entity.key.partition)
    return true
  } catch {
    return false
  }
}

/** Mostly those that a new counter gives first, in both spaces. */
const ids: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 3n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 3n }).map(scatterId) },
  { weight: 1, arbitrary: fc.constantFrom(-1n, 40n, scatteredIdMin + 1n, -(2n ** 63n), 2n ** 63n - 1n) },
)

const elements: fc.Arbitrary<PathElement> = fc.oneof(
  fc.tuple(kinds, ids).map(([kind, id]): PathElement => ({ kind, id })),
  fc.tuple(kinds, names).map(([kind, name]): PathElement => ({ kind, name })),
)

const entities: fc.Arbitrary<readonly Entity[]> = fc
  .array(
    fc.record({
      key: fc
        .tuple(fc.constantFrom('', 'n', 'other'), fc.array(elements, { minLength: 1, maxLength: 3 }))
        .map(([namespaceId, path]) => keyOf(path, { namespaceId })),
      properties: propertyMaps,
    }),
    { maxLength: 8 },
  )
  .map((some) => some.filter(isValid))

async function put(engine: Engine, database: Database, some: readonly Entity[]): Promise<void> {
  for (const one of some) {
    await database.commit(engine.context(), {
      mode: 'nonTransactional',
      mutations: [{ operation: 'upsert', entity: messageOf(one) }],
    })
  }
}

/** All entities of a database by key, with their properties as values. */
async function allOf(engine: Engine, database: Database): Promise<ReadonlyMap<string, ReadonlyMap<string, Value>>> {
  const found = new Map<string, ReadonlyMap<string, Value>>()
  for (const namespaceId of ['', 'n', 'other']) {
    let startCursor: Uint8Array | undefined
    for (;;) {
      const batch = await database.runQuery(engine.context(), {
        query: {
          partition: { projectId: database.projectId, databaseId: database.databaseId, namespaceId },
          projection: [],
          order: [],
          distinctOn: [],
          offset: 0,
          startCursor,
        },
        read: { consistency: 'strong' },
      })
      for (const { key, image } of batch.results) {
        const name = Buffer.from(encodeKey({ ...key, partition: { ...key.partition, projectId: 'p' } })).toString('hex')
        found.set(name, decodeProperties(image?.properties ?? new Uint8Array(0)))
      }
      if (batch.moreResults !== 'notFinished') break
      startCursor = batch.endCursor
    }
  }
  return found
}

const bodies = [
  { name: 'in memory', kv: () => new MemoryKv() },
  { name: 'on a store that answers by promise', kv: () => new AsyncKv(new MemoryKv()) },
]

describe.each(bodies)('$name', ({ kv }) => {
  test('what is exported and imported into an empty engine is the same, and all tables agree', async () => {
    await fc.assert(
      fc.asyncProperty(entities, fc.constantFrom('immediate', 'manual'), async (some, type) => {
        const source = await openEngine({ kv: kv(), apply: { type: type as 'immediate' | 'manual' } })
        const target = await openEngine({ kv: kv() })
        try {
          const from = source.database('p')
          await put(source, from, some)
          const waiting = await source.inspector.pending()
          const dir = newFolder()
          const exported = await source.exportEntities(from, { dir })
          if (type === 'manual') expect(await source.inspector.pending()).toEqual(waiting)
          const imported = await target.importEntities(target.database('p'), { metadataFile: exported.metadataFile })
          const expected = await allOf(source, from)
          expect(imported).toMatchObject({ entities: expected.size, skipped: 0 })
          expect(exported).toMatchObject({ entities: expected.size })
          expect(await allOf(target, target.database('p'))).toEqual(expected)
          expect(await target.check()).toMatchObject({ problemCount: 0, entities: expected.size })
        } finally {
          await source.close()
          await target.close()
        }
      }),
      { numRuns: runs(12) },
    )
  })
})

test('a filter takes the entities of its kinds and namespaces, on the way out and on the way in', async () => {
  await fc.assert(
    fc.asyncProperty(
      entities,
      fc.uniqueArray(kinds, { maxLength: 2 }),
      fc.uniqueArray(fc.constantFrom('', 'n', 'none'), { maxLength: 2 }),
      async (some, onlyKinds, namespaces) => {
        const filter = { kinds: onlyKinds, namespaces }
        const engine = await openEngine()
        const [engineOut, engineIn] = [await openEngine(), await openEngine()]
        const all = engine.database('p')
        const [filteredOut, filteredIn] = [engineOut.database('p'), engineIn.database('p')]
        const chosen = new Map<string, ReadonlyMap<string, Value>>()
        for (const { key, properties } of some) {
          const kind = key.path.at(-1)?.kind ?? ''
          const isIn =
            (onlyKinds.length === 0 || onlyKinds.includes(kind)) &&
            (namespaces.length === 0 || namespaces.some((one) => one === key.partition.namespaceId))
          if (isIn) chosen.set(Buffer.from(encodeKey(key)).toString('hex'), properties)
        }
        await put(engine, all, some)
        const [whole, part] = [newFolder(), newFolder()]
        const { metadataFile } = await engine.exportEntities(all, { dir: whole })
        const filtered = await engine.exportEntities(all, { dir: part, ...filter })
        const taken = await engineIn.importEntities(filteredIn, { metadataFile, ...filter })
        await engineOut.importEntities(filteredOut, { metadataFile: filtered.metadataFile })
        expect(filtered.entities).toBe(chosen.size)
        expect(taken.entities).toBe(chosen.size)
        const found = await allOf(engineIn, filteredIn)
        expect(new Set(found.keys())).toEqual(new Set(chosen.keys()))
        expect(await allOf(engineOut, filteredOut)).toEqual(found)
        for (const one of [engine, engineOut, engineIn]) await one.close()
      },
    ),
    { numRuns: runs(12) },
  )
})

test('an export is one moment, though writes go on beside it', async () => {
  const engine = await openEngine()
  const database = engine.database('p')
  const counters = Array.from({ length: 600 }, (_, i) => keyOf([{ kind: 'Counter', id: BigInt(i + 1) }]))
  const setAll = async (value: number): Promise<void> => {
    await database.commit(engine.context(), {
      mode: 'nonTransactional',
      mutations: counters.map((key) => ({
        operation: 'upsert',
        entity: entityMessage(key, property('value', integer(value))),
      })),
    })
  }
  await setAll(0)
  let rounds = 0
  const exported = await engine.exportEntities(database, {
    dir: newFolder(),
    onProgress: () => {
      rounds++
      void setAll(rounds)
    },
  })
  expect(rounds).toBeGreaterThan(2)
  const copy = engine.database('copy')
  await engine.importEntities(copy, { metadataFile: exported.metadataFile })
  const values = new Set([...(await allOf(engine, copy)).values()].map((properties) => properties.get('value')))
  expect([...values].map((value) => (value?.type === 'integer' ? value.value : value))).toEqual(
    Array.from({ length: 600 }, () => 0n),
  )
  await engine.close()
})

test('no id that came with an import is given to a new entity', async () => {
  await fc.assert(
    fc.asyncProperty(entities, fc.constantFrom('firestore' as const, 'legacy' as const), async (some, mode) => {
      const source = await openEngine({ mode })
      await put(source, source.database('p'), some)
      const { metadataFile } = await source.exportEntities(source.database('p'), { dir: newFolder() })
      await source.close()
      // An id that is in use fails the insert here, instead of being passed over.
      const target = await openEngine({ mode, idCollisions: 'fail' })
      const database = target.database('p')
      await target.importEntities(database, { metadataFile })
      for (const { key } of some) {
        const kind = key.path.at(-1)?.kind ?? ''
        const incomplete = { partition: key.partition, path: [...key.path.slice(0, -1), { kind }] }
        const { mutationResults } = await database.commit(target.context(), {
          mode: 'nonTransactional',
          mutations: [{ operation: 'insert', entity: entityMessage(incomplete) }],
        })
        expect(mutationResults[0]?.key?.path.at(-1)?.id).toBeDefined()
      }
      await target.close()
    }),
    { numRuns: runs(9) },
  )
})
