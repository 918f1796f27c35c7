/**
 * Apply policies: when a committed record is applied.
 *
 * immediate    with the commit; global queries are strong
 * probability  a global query applies the oldest record of each waiting group with the given chance, and after a
 *              success tries the next record (measured: Google's emulator)
 * time         after a delay; by default the delays of a loaded service (known: the SDK stub's time-based policy)
 * manual       when a release asks for it, by group and milestone
 *
 * Under every policy a strong read of a group first applies all records of the group.
 */
import type { Random } from '../random.ts'

export type ApplyPolicy =
  | { readonly type: 'immediate' }
  | { readonly type: 'probability'; readonly chance: number }
  | { readonly type: 'time'; readonly delayMs?: number }
  | { readonly type: 'manual' }

/** Share of commits that are visible within a delay. Known: the App Engine SDK's time-based policy. */
const mixedDelays: readonly { readonly share: number; readonly delayMs: number }[] = [
  { share: 0.98, delayMs: 100 },
  { share: 0.99, delayMs: 300 },
  { share: 0.995, delayMs: 2_000 },
  { share: 1, delayMs: 240_000 },
]

/** The delay of one commit in milliseconds under the `time` policy. */
export function drawDelayMs(policy: ApplyPolicy & { readonly type: 'time' }, random: Random): number {
  if (policy.delayMs !== undefined) return policy.delayMs
  const draw = random.next()
  const step = mixedDelays.find(({ share }) => draw < share)
  return step?.delayMs ?? 0
}
