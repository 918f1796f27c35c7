/**
 * The laws of log and apply, by random scripts against a plain map:
 *
 *   commit-log/L2  A record without a pending marker is wholly applied.
 *   commit-log/L3  An answer is given only after the commit point.
 *   apply/A2  Applying a record twice leaves the same rows as applying it once.
 *   engine/E1  Opening applies what an earlier run committed and did not apply.
 *   engine/E2  A commit acknowledged before a crash is there after the next opening, one cut short is there whole or not at all.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { firstIndexOptions } from '../../src/database/database-row.ts'
import { OnDemandRows } from '../../src/on-demand/on-demand-rows.ts'
import type { Kv, KvReader, KvRow } from '../../src/storage/kv.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import { type Step, steps, World } from './log-world.ts'

const bodies: readonly { readonly name: string; wrap(inner: MemoryKv): Kv }[] = [
  { name: 'a store that answers at once', wrap: (inner) => inner },
  { name: 'a store that makes property indexes on demand', wrap: onDemand },
  { name: 'a store that answers by promise', wrap: (inner) => new AsyncKv(inner) },
]

function onDemand(inner: MemoryKv): Kv {
  return new OnDemandRows(inner, () => firstIndexOptions.firestore)
}

describe.each(bodies)('on $name', ({ wrap }) => {
  test('reads agree with a plain map under any policy, release and crash between steps (commit-log/L2, engine/E1)', async () => {
    await fc.assert(
      fc.asyncProperty(steps({ reopen: true }), async (script) => {
        const world = await World.open(wrap(new MemoryKv()))
        for (const step of script) await world.take(step)
        await world.expectWhole()
      }),
      { numRuns: runs(30) },
    )
  })

  test('a crash at any write loses nothing acknowledged and leaves nothing half-written (commit-log/L3, engine/E2)', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps({ reopen: false }),
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('before' as const, 'after' as const),
        async (script, atWrite, when) => {
          const world = await World.open(wrap(new MemoryKv()), { kind: 'crash', atWrite, when })
          await runUntilFault(world, script)
          await world.reopen()
          await world.expectWhole()
        },
      ),
      { numRuns: runs(60) },
    )
  })

  test('a refused write is answered by an error and leaves a store that opens whole', async () => {
    await fc.assert(
      fc.asyncProperty(steps({ reopen: false }), fc.integer({ min: 1, max: 30 }), async (script, atWrite) => {
        const world = await World.open(wrap(new MemoryKv()), { kind: 'fail', atWrite })
        await runUntilFault(world, script)
        await world.reopen()
        await world.expectWhole()
      }),
      { numRuns: runs(30) },
    )
  })

  test('applying a record twice leaves the same rows as applying it once (apply/A2)', async () => {
    await fc.assert(
      fc.asyncProperty(steps({ reopen: false }), async (script) => {
        const inner = new MemoryKv()
        const world = await World.open(wrap(inner))
        world.engine.database('p').configure({ applyPolicy: { type: 'manual' } })
        for (const step of script) if (step.type === 'commit') await world.commit(step)
        const committed = inner.snapshot()
        await world.engine.inspector.releaseAll()
        const once = rowsOf(inner)
        fc.pre(once.length > 0)
        // The markers and records come back, the tables stay: everything is applied a second time.
        for (const row of allRows(committed, 'L', 'Q')) inner.mutate(row)
        await world.reopen()
        expect(rowsOf(inner)).toEqual(once)
      }),
      { numRuns: runs(21) },
    )
  })
})

/** Takes steps until one meets the fault. Any other error is the test's. */
async function runUntilFault(world: World, script: readonly Step[]): Promise<void> {
  for (const step of script) {
    try {
      await world.take(step)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'UNAVAILABLE')) throw error
      return
    }
  }
}

/** All rows but the ceiling of commit versions, which only rises. */
function rowsOf(kv: MemoryKv): readonly (readonly [string, string])[] {
  const rows: [string, string][] = []
  for (const { key, value } of allRows(kv)) {
    if (!key.startsWith('M')) rows.push([key, Buffer.from(value).toString('hex')])
  }
  return rows
}

function allRows(reader: KvReader, start = '', end = '\xff'): readonly KvRow[] {
  return atOnce(reader.scan({ start, end }).next(100_000))
}
