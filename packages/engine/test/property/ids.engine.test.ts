/**
 * allocator/I4   No id is given twice, across automatic ids, AllocateIds and ranges, restarts and crashes included.
 * allocator/I5   A reserved id is never given, nor one of a range that was asked for.
 * A reservation moves the counters of the ids in a key past them and no other counter; repeated, nothing.
 * Ids in one piece begin where the counter stands, and no counter ever goes back.
 * The state of a range is that of the rules, for entities put by hand and deleted, below a lone child too.
 * A range asked for twice is never EMPTY the second time.
 * I10  An insert without id never changes an existing entity: it takes the next free id, or fails with the documented words
 *      and nothing of its transaction is applied.
 * Keys come back in request order and differ from the request in the last id only.
 * After a crash no counter stands below what it gave; after a clean close each stands exactly where it stood.
 *
 * Random commands on a whole engine against a model that foretells every single id: see ids-engine-world.ts.
 */
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Mode } from '../../src/database/settings.ts'
import type { IdCollisions } from '../../src/ids/allocator.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { engineCommands } from './ids-engine-commands.ts'
import { Model, World } from './ids-engine-world.ts'

describe.each<[Mode, IdCollisions]>([
  ['firestore', 'next'],
  ['firestore', 'fail'],
  ['legacy', 'next'],
  ['legacy', 'fail'],
])('ids of an engine in %s mode, where an id in use means: %s', (mode, idCollisions) => {
  test.each([
    ['at once', () => new MemoryKv()],
    ['by promises', () => new AsyncKv(new MemoryKv())],
  ])('the laws of ids hold over a store that answers %s', async (_answers, store) => {
    const options = { mode, idCollisions }
    await fc.assert(
      fc.asyncProperty(engineCommands(), async (commands) => {
        const world = await World.open(store(), options)
        await fc.asyncModelRun(() => ({ model: new Model(options), real: world }), commands)
      }),
      { numRuns: runs(10) },
    )
  })
})
