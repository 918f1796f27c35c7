/**
 * I4   No id is given twice for one parent and kind, across automatic ids, AllocateIds and ranges, restarts included.
 * I5   An id given or reserved is never given later.
 * I6   A reservation moves the counter of the id's space past it and no other counter; repeated, nothing.
 * I7   Allocating up to a highest id never lowers a counter, and the range never overlaps ids given before.
 * I8   EMPTY means neither entity nor given id inside; COLLISION means an entity inside, and nothing else does.
 * I9   A range asked for twice is never EMPTY the second time.
 * I11  Answers stand in request order; allocated keys differ from the request only in the last id.
 * I12  After a crash the next number is greater than any ever given.
 *
 * Random commands against a model: a plain set of given and reserved numbers, and where exact, the one number that must
 * come next. Over a store that answers at once and one that answers by promises.
 */
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { idCommands } from './ids-commands.ts'
import { Model, type Way, World } from './ids-world.ts'

describe.each<[Way, string]>([
  ['one', 'one allocator'],
  ['shared', 'three allocators that take what they need'],
  ['blocks', 'three allocators with blocks'],
])('%s: %s', (way) => {
  test.each([
    ['at once', undefined],
    ['by promises', () => Promise.resolve()],
  ])('I4 to I9, I11, I12 hold over a store that answers %s', async (_answers, turn) => {
    await fc.assert(
      fc.asyncProperty(idCommands(), (commands) =>
        fc.asyncModelRun(() => ({ model: new Model(way), real: new World(way, turn) }), commands),
      ),
      { numRuns: 150 },
    )
  })
})
