/**
 * The engine's verbs without a wire, in memory and on disk: what is left when transport and codecs are taken away. Then the cost of
 * known data before each test: going back to a snapshot after ten writes, against a reset and new entities in commits of 500.
 *
 * Run it with `npm run bench:engine`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, type Mutation, openEngine } from '@sixtables/engine'
import benny from 'benny'
import { queryOf, text, where } from '../../packages/bench/src/sim/entities.ts'
import { categories, entity, keyOf, nameOf, project } from './wire/messages.ts'

const size = 10_000
const kind = 'Task'

/** New entities are of a kind of their own: queries and counts find the same however many were made before. */
function upserts(from: number, count: number, named: boolean): readonly Mutation[] {
  return Array.from({ length: count }, (_, i) => ({
    operation: 'upsert',
    entity: named ? entity(kind, nameOf(from + i), from + i) : entity('New', undefined, from + i),
  }))
}

async function put(engine: Engine, mutations: readonly Mutation[]): Promise<void> {
  await engine.database(project).commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function fill(engine: Engine): Promise<void> {
  for (let from = 0; from < size; from += 500) await put(engine, upserts(from, 500, true))
}

const { partition } = keyOf(kind, undefined)
const all = queryOf(partition, kind, {})

async function suite(title: string, engine: Engine): Promise<void> {
  await fill(engine)
  const database = engine.database(project)
  let i = 0
  await benny.suite(
    title,
    benny.add('lookup of 1 key', async () => {
      await database.lookup(engine.context(), { keys: [keyOf(kind, nameOf(i++ % size))] })
    }),
    benny.add('upsert of 1, automatic id', async () => {
      await put(engine, upserts(i++, 1, false))
    }),
    benny.add('commit of 100 upserts by name', async () => {
      await put(engine, upserts((i++ * 100) % size, 100, true))
    }),
    benny.add('equality filter, limit 20', async () => {
      const filter = where('cat', 'equal', text(`c${i++ % categories}`))
      await database.runQuery(engine.context(), { query: queryOf(partition, kind, { filter, limit: 20 }) })
    }),
    benny.add('count()', async () => {
      const aggregations = [{ operator: 'count', upTo: undefined }] as const
      await database.runAggregationQuery(engine.context(), { query: all, aggregations })
    }),
    benny.cycle(),
  )
}

async function suiteOfTests(): Promise<void> {
  const engine = await openEngine()
  await fill(engine)
  const snapshot = await engine.snapshot()
  await benny.suite(
    `${size.toLocaleString('en')} entities before each test that writes ten`,
    benny.add('restore a snapshot', async () => {
      await put(engine, upserts(size, 10, true))
      await engine.restore(snapshot)
    }),
    benny.add('reset, and seed', async () => {
      await put(engine, upserts(size, 10, true))
      await engine.reset()
      await fill(engine)
    }),
    benny.cycle(),
  )
  await engine.close()
}

const memory = await openEngine()
await suite(`in memory, ${size.toLocaleString('en')} entities`, memory)
await memory.close()

const dir = mkdtempSync(join(tmpdir(), 'sixtables-bench-'))
const disk = await openEngine({ dir })
await suite(`on disk, ${size.toLocaleString('en')} entities`, disk)
await disk.close()
rmSync(dir, { recursive: true })
await suiteOfTests()
