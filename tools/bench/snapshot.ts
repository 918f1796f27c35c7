/**
 * What it costs to begin a test with known data: going back to a snapshot, against seeding anew; and to begin with nothing:
 * a new emulator, a new engine, a reset.
 *
 *   restore       after a test that wrote 10 entities
 *   reset, seed   the same entities by engine calls in the same process, 500 a commit: the cheapest seeding there is
 *   new engine    openEngine() and close()
 *
 * Run it with `npm run bench:snapshot` in packages/bench, after a build.
 */
import { type Engine, encodeKey, encodeProperties, type Key, openEngine } from '@sixtables/engine'
import benny from 'benny'

const entitiesOfTest = 10

function entity(id: number): Uint8Array {
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const key: Key = { partition, path: [{ kind: 'Task', id: BigInt(id) }] }
  const keyBytes = encodeKey(key)
  const properties = encodeProperties(
    new Map([
      ['title', { type: 'string', value: `task ${id}` }],
      ['priority', { type: 'integer', value: BigInt(id % 5) }],
      ['done', { type: 'boolean', value: id % 2 === 0 }],
    ]),
  )
  return Buffer.concat([Uint8Array.of(0x0a, keyBytes.length), keyBytes, properties])
}

async function put(engine: Engine, ids: readonly number[]): Promise<void> {
  for (let i = 0; i < ids.length; i += 500) {
    await engine.database('p').commit(engine.context(), {
      mode: 'nonTransactional',
      mutations: ids.slice(i, i + 500).map((id) => ({ operation: 'upsert', entity: entity(id) })),
    })
  }
}

const range = (count: number, from = 1): number[] => Array.from({ length: count }, (_, i) => from + i)

for (const count of [100, 1_000, 10_000]) {
  const written = range(entitiesOfTest, count + 1)
  await benny.suite(
    `${count} entities before each test`,
    benny.add('restore a snapshot', async () => {
      const engine = await openEngine()
      await put(engine, range(count))
      const snapshot = await engine.snapshot()
      return async () => {
        await put(engine, written)
        await engine.restore(snapshot)
      }
    }),
    benny.add('reset, and seed', async () => {
      const engine = await openEngine()
      return async () => {
        await put(engine, written)
        await engine.reset()
        await put(engine, range(count))
      }
    }),
    benny.cycle(),
  )
}

await benny.suite(
  'an empty store before each test',
  benny.add('new engine', async () => {
    const engine = await openEngine()
    await engine.close()
  }),
  benny.add('reset', async () => {
    const engine = await openEngine()
    return async () => {
      await put(engine, range(entitiesOfTest))
      await engine.reset()
    }
  }),
  benny.cycle(),
)
