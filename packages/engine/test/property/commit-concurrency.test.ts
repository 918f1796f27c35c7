/**
 * Commits that meet each other: commit-log/L4 and commit-log/L5 under every order in which the store may answer.
 *
 *   commit-log/L4  An image before is the newest committed one.
 *   commit-log/L5  Evaluation and append of a commit are not interleaved with those of another.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { openEngine } from '../../src/engine/engine.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { mutationOf, worldKeys } from './log-world.ts'

describe('commits that run at once', () => {
  test('of many inserts of one entity exactly one succeeds, whatever the order of the answers (commit-log/L5)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 6 }), async (scheduler, clients) => {
        const kv = new AsyncKv(new MemoryKv(), { hop: () => scheduler.schedule(Promise.resolve()) })
        const opening = openEngine({ kv, scheduler: new VirtualClock() })
        await scheduler.waitFor(opening)
        const engine = await opening
        const inserts = Array.from({ length: clients }, (_, client) =>
          Promise.resolve(
            engine.database('p').commit(engine.context(), {
              mode: 'nonTransactional',
              mutations: [mutationOf(worldKeys[0], client, 'insert')],
            }),
          ),
        )
        const outcomes = await scheduler.waitFor(Promise.allSettled(inserts))
        const won = outcomes.flatMap((outcome, client) => (outcome.status === 'fulfilled' ? [client] : []))
        expect(won).toHaveLength(1)
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'ALREADY_EXISTS' })
        }
        const report = await scheduler.waitFor(engine.check())
        expect(report).toMatchObject({ entities: 1, problemCount: 0 })
      }),
      { numRuns: runs(100) },
    )
  })

  test('versions of one entity rise in the order of its commits (commit-log/L1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const kv = new AsyncKv(new MemoryKv(), { hop: () => scheduler.schedule(Promise.resolve()) })
        const opening = openEngine({ kv, scheduler: new VirtualClock() })
        await scheduler.waitFor(opening)
        const engine = await opening
        const puts = Array.from({ length: 5 }, (_, client) =>
          Promise.resolve(
            engine.database('p').commit(engine.context(), {
              mode: 'nonTransactional',
              mutations: [mutationOf(client % 2 === 0 ? worldKeys[0] : worldKeys[1], client)],
            }),
          ),
        )
        const results = await scheduler.waitFor(Promise.all(puts))
        const versions = results.map(({ mutationResults }) => mutationResults[0]?.version ?? 0n)
        expect(new Set(versions).size).toBe(versions.length)
        const log = await scheduler.waitFor(engine.inspector.log(worldKeys[0]))
        const logged = log.records.map(({ version }) => BigInt(version))
        expect(logged).toEqual([...versions].sort((a, b) => (a < b ? -1 : 1)))
      }),
      { numRuns: runs(100) },
    )
  })
})
