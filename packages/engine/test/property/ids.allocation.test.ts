/**
 * allocator/I4   No id is given twice for one parent and kind, across automatic ids, AllocateIds and ranges, restarts included.
 * allocator/I5   An id given or reserved is never given later.
 * A reservation moves the counter of the id's space past it and no other counter; repeated, nothing.
 * Allocating up to a highest id never lowers a counter, and the range never overlaps ids given before.
 * EMPTY means neither entity nor given id inside; COLLISION means an entity inside, and nothing else does.
 * A range asked for twice is never EMPTY the second time.
 * Answers stand in request order; allocated keys differ from the request only in the last id.
 * After a crash the next number is greater than any ever given.
 *
 * Random commands against a model: a plain set of given and reserved numbers, and where exact, the one number that must
 * come next. Over a store that answers at once and one that answers by promises.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Key } from '../../src/model/key.ts'
import { idCommands } from './ids-commands.ts'
import { context, families, Model, type Way, World } from './ids-world.ts'

describe.each<[Way, string]>([
  ['one', 'one allocator'],
  ['shared', 'three allocators that take what they need'],
  ['blocks', 'three allocators with blocks'],
])('%s: %s', (way) => {
  test.each([
    ['at once', undefined],
    ['by promises', () => Promise.resolve()],
  ])('ids are unique, reserved once and in request order over a store that answers %s', async (_answers, turn) => {
    await fc.assert(
      fc.asyncProperty(idCommands(), (commands) =>
        fc.asyncModelRun(() => ({ model: new Model(way), real: new World(way, turn) }), commands),
      ),
      { numRuns: runs(50) },
    )
  })
})

test('the state of a range is that of the rules, for every counter, range and set of entities', async () => {
  const toDo = families[0] as Key
  const ids = fc.integer({ min: 1, max: 12 })
  await fc.assert(
    fc.asyncProperty(ids, fc.uniqueArray(ids, { maxLength: 4 }), ids, ids, async (next, entities, start, length) => {
      const allocator = new World('one').allocator(0)
      await allocator.allocateMax(context, toDo, BigInt(next - 1))
      const range = { start: BigInt(start), end: BigInt(start + length - 1) }
      const hasEntity = entities.some((id) => id >= start && id < start + length)
      const { state, nextBefore, nextAfter } = await allocator.allocateRange(context, toDo, range, () => hasEntity)
      expect(state).toBe(hasEntity ? 'COLLISION' : next > start ? 'CONTENTION' : 'EMPTY')
      expect([nextBefore, nextAfter]).toEqual([BigInt(next), BigInt(Math.max(next, start + length))])
    }),
    { numRuns: runs(100) },
  )
})
