/**
 * Every setting of the tablets with its meaning, unit, default and source. Each can be set on its own, by
 * `openEngine({ tablets: { … } })` and `engine.tablets.configure({ … })`. docs/reference/tablets.md has a row for each, which
 * test/docs/tablets-pages.test.ts compares with this file.
 *
 * Sources: *known* = Google's public articles, or the Bigtable paper as commonly summarised; *believed* = what is said of such
 * systems, without a public figure; *ours* = chosen here.
 */
import { invariant } from '../../invariant.ts'

/** A unit that is not given is `ms`, a source that is not given is `ours`. */
const table = {
  simulate: {
    value: false,
    what: 'simulated capacity of servers: operations are delayed, and refused on overload',
    unit: 'yes or no',
  },
  scale: { value: 1, what: 'number of operations that each real one stands for', unit: 'operations' },
  servers: {
    value: 1_000,
    what: 'number of tablet servers',
    unit: 'servers',
    source: 'ours: enough for 740,000 small writes a second',
  },
  opsPerSecond: {
    value: 10_000,
    what: 'capacity of a server in row operations',
    unit: '/s',
    source: 'believed: some thousands to ten thousand',
  },
  queueMsMax: {
    value: 2_000,
    what: 'maximum wait in the queue of a server; it refuses operations that would wait longer',
  },
  serviceMs: { value: 2, what: 'time of a row operation on an idle server', source: 'believed' },
  scanRowCost: {
    value: 0.1,
    what: 'cost of a scanned row, or of a tombstone that a scan skips, relative to a get',
    unit: 'row operations',
    source: 'ours: rows of a block are read together',
  },
  commitLatencyMs: {
    value: 150,
    what: 'duration of an append to the log of an entity group; the next commit of the group waits for it',
    source: 'known: Megastore commits take 100 to 400 ms, which makes a few a second',
  },
  groupWaitMsMax: {
    value: 5_000,
    what: 'maximum wait of a commit in the queue of its entity group; then it fails with ABORTED',
  },
  waits: {
    value: true,
    what: 'real delays; if no, delays are only measured, and commits of a group do not queue',
    unit: 'yes or no',
    source: 'ours: for labs in which one operation stands for thousands',
  },
  exactPerSecond: {
    value: 1_000,
    what: 'without simulation, number of operations in each second that are charged one by one',
    unit: 'operations',
    source: 'ours: the load of a small store is exact',
  },
  sampleEvery: {
    value: 64,
    what: 'without simulation, one of this number of further operations in a second is charged, for all of them',
    unit: 'operations, on average',
  },
  slotMs: {
    value: 1_000,
    what: 'time over which an operation of weight above 1 is spread',
    source: 'ours: a weight is a flow, never a burst',
  },
  tickMs: { value: 200, what: 'step in which flows begin and end' },
  windowMs: { value: 60_000, what: 'time window of the load that policies use' },
  reportWindowMs: { value: 10_000, what: 'time window of the load that reports show' },
  decisionMs: { value: 5_000, what: 'time between two decisions of the policies' },
  samplesMin: {
    value: 64,
    what: 'minimum number of samples of a tablet before it is split',
    unit: 'samples of a tablet',
  },
  splitOpsPerSecond: {
    value: 4_000,
    what: 'load above which a tablet is split',
    unit: 'row operations/s',
    source: 'ours: two fifths of a server, so that half as much more still fits',
  },
  splitHalfShareMin: { value: 0.1, what: 'minimum share of the load in each half of a split', unit: 'share' },
  splitOneEndShare: {
    value: 0.9,
    what: 'maximum share of the newest quarter of the samples on one side of the split point; above it the tablet is not split',
    unit: 'share',
  },
  splitBytes: {
    value: 300_000_000,
    what: 'size above which a tablet is split',
    unit: 'bytes',
    source: 'known: about 300 MB',
  },
  splitRestMs: {
    value: 480_000,
    what: 'minimum time between two splits of a tablet: a compaction rewrites the shared files of the halves first',
    source:
      'ours: tablets double every 8 minutes, which is 54 % more every 5: the documented ramp of 50 % is followed, one of 100 % is not. Known: halves share files (Bigtable), and HBase splits none that still refers to its parent',
  },
  splitUnavailableMs: {
    value: 0,
    what: 'duration for which both halves are unavailable after a split',
    source: 'known: halves share their files and stay on their server; only moves have a cost',
  },
  mergeOpsPerSecond: {
    value: 200,
    what: 'load below which two neighbours are merged',
    unit: 'row operations/s, both together',
    source: 'ours: a twentieth of that of a split',
  },
  mergeBytes: { value: 100_000_000, what: 'size below which two neighbours are merged', unit: 'bytes, both together' },
  mergeAfterMs: { value: 600_000, what: 'minimum age of both neighbours before a merge' },
  balanceAbove: {
    value: 0.5,
    what: 'load of a server above which tablets are moved away',
    unit: 'share of its capacity',
  },
  balanceBelow: {
    value: 0.45,
    what: 'maximum load of the receiving server after a move',
    unit: 'share of its capacity',
  },
  moveMsMin: {
    value: 300,
    what: 'minimum duration for which a moving tablet is unavailable',
    source: 'known: a few hundred ms',
  },
  moveMsMax: {
    value: 2_000,
    what: 'maximum duration for which a moving tablet is unavailable',
    source: 'known: 1 to 2 s',
  },
  warmUpMs: {
    value: 60_000,
    what: 'time after a move during which reads of the tablet cost more',
    source:
      'ours. Known: a server caches blocks in memory (Bigtable), so a tablet begins on another one with an empty cache',
  },
  warmUpReadCost: { value: 2, what: 'cost of a read during warm-up, relative to a later read', unit: 'times' },
  compactAfterMs: { value: 3_600_000, what: 'age of the oldest tombstone of a tablet that starts a major compaction' },
  compactRestMs: {
    value: 600_000,
    what: 'minimum age of the oldest tombstone of a tablet for a compaction by the share of tombstones',
    source: 'ours: files that are still being written to are not rewritten yet',
  },
  compactShare: { value: 0.5, what: 'ratio of tombstones to rows that starts a major compaction', unit: 'share' },
  compactTombstonesMin: {
    value: 1_000,
    what: 'minimum number of tombstones for a compaction by their share',
    unit: 'rows',
  },
  heatRowsMax: { value: 64, what: 'maximum number of key ranges of a table in the load history', unit: 'ranges' },
  eventsMax: { value: 1_000, what: 'maximum number of events in the history', unit: 'events' },
}

export type TabletSettingName = keyof typeof table
export type TabletSettings = { readonly [Name in TabletSettingName]: (typeof table)[Name]['value'] }

export interface TabletSettingNote {
  readonly what: string
  readonly unit: string
  readonly source: string
}

const rows = Object.entries<Pick<TabletSettingNote, 'what'> & Partial<TabletSettingNote> & { readonly value: unknown }>(
  table,
)

export const tabletNotes: Readonly<Record<TabletSettingName, TabletSettingNote>> = Object.fromEntries(
  rows.map(([name, { what, unit = 'ms', source = 'ours' }]) => [name, { what, unit, source }]),
) as Record<TabletSettingName, TabletSettingNote>

export const tabletDefaults: TabletSettings = Object.fromEntries(
  rows.map(([name, { value }]) => [name, value]),
) as TabletSettings

/** The defaults with some settings replaced. @throws InvariantError if they contradict each other */
export function tabletSettings(
  changed: Partial<TabletSettings> = {},
  base: TabletSettings = tabletDefaults,
): TabletSettings {
  const settings = { ...base, ...changed }
  const { servers, scale, opsPerSecond, splitOpsPerSecond, mergeOpsPerSecond, windowMs, decisionMs, tickMs } = settings
  invariant(Number.isInteger(servers) && servers >= 1, 'tablets: servers is a whole number from 1 on')
  invariant(scale > 0 && opsPerSecond > 0, 'tablets: scale and opsPerSecond are above 0')
  invariant(mergeOpsPerSecond < splitOpsPerSecond, 'tablets: a merged tablet must not be split at once')
  invariant(settings.mergeBytes < settings.splitBytes, 'tablets: a merged tablet must not be split at once')
  invariant(
    decisionMs <= windowMs && tickMs <= decisionMs,
    'tablets: decisionMs is tickMs or more, and windowMs or less',
  )
  invariant(decisionMs % tickMs === 0, 'tablets: decisionMs is a multiple of tickMs')
  invariant(windowMs >= 1_000 && windowMs <= 60_000, 'tablets: a window is 1 to 60 seconds')
  invariant(settings.reportWindowMs <= windowMs, 'tablets: reports show no more than the window')
  return settings
}
