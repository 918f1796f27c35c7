/**
 * The rules for splits and merges of tablets. A split: by load at the weighted median of the sampled keys, by size at the middle row.
 *
 *   samples by key   a a b c d d d e     half of the weight ──▶ the right half begins at row d
 *
 * The weight of a sample is the number of operations that it stands for (load-sample.ts): 1 for each of these.
 *
 * With the default settings: 5,000 puts a second go to the one tablet of Entities. The first decision after 60 s sees more than
 * 4,000 operations a second, and the median of the sampled rows is ToDo:500: a second tablet begins there.
 *
 * A split point is the key of a row, or lies between two, so no row is divided. A split that would not help is refused, with
 * the share of the samples that shows it: one row has nearly all the load, or the newest samples are all on one side, so the
 * load would stay together and move on. After a split both halves rest for `splitRestMs`.
 *
 * Known: tablets split by size, or when they get more traffic than one server can take. Neither helps if the traffic is for
 * one row, or always at the end of the range; small neighbours are merged after mass deletes. Ours: the thresholds, and that a useless
 * split is refused at once.
 */
import type { RowKey } from '../../storage/kv.ts'
import type { TabletSettings } from './defaults.ts'
import type { SampledOperation } from './load-sample.ts'
import type { SplitRefusal } from './report.ts'

export interface SplitCandidate {
  readonly start: RowKey
  readonly end: RowKey
  readonly opsPerSecond: number
  /** Time for which its load has been counted. */
  readonly ageMs: number
  /** Time since a split created or cut it; infinite without a split. */
  readonly sinceSplitMs: number
  readonly bytes: number
  /** Sampled operations of the window, oldest first. */
  samples(): readonly SampledOperation[]
  /** Evenly drawn keys of its rows, in any order. */
  rowSample(): readonly RowKey[]
}

export type SplitDecision =
  | { readonly at: RowKey; readonly reason: 'load' | 'size'; readonly words: string }
  | { readonly refusal: SplitRefusal }

/** @returns `undefined` without a reason to split */
export function decideSplit(
  tablet: SplitCandidate,
  settings: TabletSettings,
  words: (rowKey: RowKey) => string,
): SplitDecision | undefined {
  const byLoad = splitByLoad(tablet, settings, words)
  const isResting = tablet.sinceSplitMs < settings.splitRestMs
  if (byLoad !== undefined && 'at' in byLoad) return isResting ? resting(tablet, settings) : byLoad
  if (isResting) return byLoad
  if (tablet.bytes > settings.splitBytes) {
    const at = middleRow(tablet)
    if (at !== undefined) {
      return {
        at,
        reason: 'size',
        words: `it holds ${megabytes(tablet.bytes)} MB, more than ${megabytes(settings.splitBytes)}`,
      }
    }
  }
  return byLoad
}

function splitByLoad(
  tablet: SplitCandidate,
  settings: TabletSettings,
  words: (rowKey: RowKey) => string,
): SplitDecision | undefined {
  const { opsPerSecond } = tablet
  if (opsPerSecond <= settings.splitOpsPerSecond || tablet.ageMs < settings.windowMs) return undefined
  const samples = tablet.samples()
  if (samples.length < settings.samplesMin) {
    return refuse(
      'too-few-samples',
      samples.length / settings.samplesMin,
      `only ${samples.length} of ${settings.samplesMin} samples`,
    )
  }
  const found = splitPoint(samples)
  if (found === undefined || found.smallerHalf < settings.splitHalfShareMin) {
    const { rowKey, share } = hottestRow(samples)
    return refuse(
      'single-hot-row',
      share,
      `${percent(share)} of its load is for one row, ${words(rowKey)}, and a tablet is never split inside a row`,
    )
  }
  const side = newestSide(samples, found.at)
  if (side.share >= settings.splitOneEndShare) {
    return refuse(
      'load-at-one-end',
      side.share,
      `${percent(side.share)} of its newest operations lie ${side.right ? 'after' : 'before'} the middle of its load: the load moves on along the keys, and a split would not divide it`,
    )
  }
  return {
    at: found.at,
    reason: 'load',
    words: `it had ${Math.round(opsPerSecond).toLocaleString('en')} row operations a second, more than ${settings.splitOpsPerSecond.toLocaleString('en')}; ${samples.length} samples put ${percent(found.smallerHalf)} of them into the smaller half`,
  }
}

/** The first row of the right half by weight, and the share of the smaller half; `undefined` with fewer than two different rows. */
export function splitPoint(
  samples: readonly SampledOperation[],
): { readonly at: RowKey; readonly smallerHalf: number } | undefined {
  const sorted = [...samples].sort((a, b) => (a.rowKey < b.rowKey ? -1 : a.rowKey > b.rowKey ? 1 : 0))
  let total = 0
  for (const { weight } of sorted) total += weight
  let best: { readonly at: RowKey; readonly smallerHalf: number } | undefined
  let left = 0
  for (let i = 1; i < sorted.length; i++) {
    const [before, here] = [sorted[i - 1] as SampledOperation, sorted[i] as SampledOperation]
    left += before.weight
    if (here.rowKey === before.rowKey) continue
    const smallerHalf = Math.min(left, total - left) / total
    if (best === undefined || smallerHalf > best.smallerHalf) best = { at: here.rowKey, smallerHalf }
  }
  return best
}

function resting({ sinceSplitMs }: SplitCandidate, { splitRestMs }: TabletSettings): SplitDecision {
  const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10}`
  return refuse(
    'recent-split',
    sinceSplitMs / splitRestMs,
    `it was split ${minutes(sinceSplitMs)} minutes ago, and its files are rewritten first, which takes ${minutes(splitRestMs)}`,
  )
}

function hottestRow(samples: readonly SampledOperation[]): { readonly rowKey: RowKey; readonly share: number } {
  const weights = new Map<RowKey, number>()
  let [total, most, hottest] = [0, 0, '']
  for (const { rowKey, weight } of samples) {
    total += weight
    const sum = (weights.get(rowKey) ?? 0) + weight
    weights.set(rowKey, sum)
    if (sum > most) [most, hottest] = [sum, rowKey]
  }
  return { rowKey: hottest, share: total === 0 ? 0 : most / total }
}

/** The side of the newest quarter of the samples; samples of one instant count together. */
function newestSide(
  samples: readonly SampledOperation[],
  at: RowKey,
): { readonly right: boolean; readonly share: number } {
  const sinceMs = samples[Math.floor(samples.length * 0.75)]?.atMs ?? 0
  let [right, total] = [0, 0]
  for (const { rowKey, atMs, weight } of samples) {
    if (atMs < sinceMs) continue
    total += weight
    if (rowKey >= at) right += weight
  }
  const share = right / total
  return share >= 0.5 ? { right: true, share } : { right: false, share: 1 - share }
}

function middleRow({ start, rowSample }: SplitCandidate): RowKey | undefined {
  const keys = [...rowSample()].sort()
  const middle = keys[Math.floor(keys.length / 2)]
  return middle !== undefined && middle > start ? middle : keys.find((key) => key > start)
}

function refuse(reason: SplitRefusal['reason'], share: number, words: string): SplitDecision {
  return { refusal: { reason, share, words } }
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString('en')
}

type MergeCandidate = Pick<SplitCandidate, 'opsPerSecond' | 'bytes' | 'ageMs'>

/**
 * Two neighbours become one tablet if both were cold for a while and are small together, far below the thresholds of a split: a merged
 * tablet is not split again at once.
 */
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
