/**
 * The rule for merges: two neighbours become one tablet if both were cold for a while and are small together.
 *
 * Known: small neighbours are merged after mass deletes. Ours: the thresholds, far below those of a split, so that a merged
 * tablet is not split again at once.
 */
import type { TabletSettings } from './defaults.ts'

export interface MergeCandidate {
  readonly opsPerSecond: number
  readonly bytes: number
  readonly ageMs: number
}

export function shouldMerge(
  left: MergeCandidate,
  right: MergeCandidate,
  { mergeAfterMs, mergeBytes, mergeOpsPerSecond }: TabletSettings,
): boolean {
  return (
    left.ageMs >= mergeAfterMs &&
    right.ageMs >= mergeAfterMs &&
    left.opsPerSecond + right.opsPerSecond < mergeOpsPerSecond &&
    left.bytes + right.bytes < mergeBytes
  )
}
