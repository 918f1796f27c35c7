/**
 * allocator/I4, allocator/I5   An import moves the counters past every id in the keys it brings, ancestors' too: none of them is given later.
 * I10          What was imported is never changed by an insert without id.
 *
 * The commands of ids.engine.test.ts, and imports of entities under ids that the counters are about to reach. What is
 * imported was exported by another engine, so that it goes the whole way out and in.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Mode } from '../../src/database/settings.ts'
import { openEngine } from '../../src/engine/engine.ts'
import type { Key } from '../../src/model/key.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { Command, engineCommands, keyAt, type Place, place, placeInWords } from './ids-engine-commands.ts'
import { Model, nameOf, World, write } from './ids-engine-world.ts'

let folder: string
let exports = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sixtables-ids-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** An export of entities made for it; the file that an import is given. */
async function exportOf(entities: readonly { readonly key: Key; readonly value: number }[]): Promise<string> {
  const engine = await openEngine()
  const database = engine.database('p')
  const mutations = entities.map(({ key, value }) => write('upsert', key, value))
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  const { metadataFile } = await engine.exportEntities(database, { dir: join(folder, `${exports++}`) })
  await engine.close()
  return metadataFile
}

class ImportCommand extends Command {
  readonly places: readonly Place[]

  constructor(places: readonly Place[]) {
    super()
    this.places = places
  }

  async act(model: Model, world: World): Promise<void> {
    const keys = new Map(this.places.map((one) => keyAt(model, one)).map((key) => [nameOf(key), key]))
    const entities = [...keys.values()].map((key) => ({ key, value: ++model.lastValue }))
    for (const { key, value } of entities) {
      model.pass(key)
      model.store(key, value)
    }
    await world.engine.importEntities(world.database, { metadataFile: await exportOf(entities) })
  }

  toString(): string {
    return `import ${this.places.map(placeInWords).join(', ')}`
  }
}

const imports = fc.array(place, { minLength: 1, maxLength: 3 }).map((places) => new ImportCommand(places))

describe.each<Mode>(['firestore', 'legacy'])('imports into an engine in %s mode', (mode) => {
  test('allocator/I4, allocator/I5, I10 hold', async () => {
    const options = { mode, idCollisions: 'fail' } as const
    await fc.assert(
      fc.asyncProperty(engineCommands([imports, imports]), async (commands) => {
        const world = await World.open(new MemoryKv(), options)
        await fc.asyncModelRun(() => ({ model: new Model(options), real: world }), commands)
      }),
      { numRuns: runs(10) },
    )
  })
})
