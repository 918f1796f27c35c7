/**
 * Reports of the tablets: plain data, ready for JSON, the same for the inspector, HTTP, `sixtables top` and the labs.
 *
 *   TabletsReport   now: tables, tablets, servers            HeatReport   a grid: key range × time
 *   TabletEvent     what happened: split, merge, move, …     Finding      what a pattern of use costs, in words
 *
 * R1  Instants are milliseconds since the epoch on the engine's clock; rates are row operations a second over the window.
 * R2  Row keys are shown in words, table › namespace › kind › property › value › key; '' is the open end of a table.
 *     Beside the words of a tablet stand its bytes, in hexadecimal, so that two ranges can always be told apart.
 * R3  All numbers of one report are of one moment.
 * R4  Where weights are in use (--simulate-scale, labs), every number counts simulated operations.
 */
import type { TableId } from '../../tables/table.ts'

/** A tablet: rows of `table` from `start` to before `end`. */
export interface TabletReport {
  readonly table: TableId
  /** Never given twice while the engine is open; the right half of a split gets a new one. */
  readonly id: number
  readonly start: string
  readonly end: string
  readonly startHex: string
  readonly endHex: string
  readonly rows: number
  readonly bytes: number
  /** Deleted rows that scans still wade through, until a major compaction. */
  readonly tombstones: number
  readonly readsPerSecond: number
  readonly writesPerSecond: number
  readonly bytesPerSecond: number
  /** Share of the load of all tablets of its table, 0 to 1. */
  readonly loadShare: number
  readonly server: number
  /** While it moves or splits, calls on it fail. */
  readonly unavailableUntilMs: number | undefined
  /** Why the last wish to split it was not granted. */
  readonly splitRefusal: SplitRefusal | undefined
  /** `undefined`: none of its scans went over more deleted rows than it found, or over very few. */
  readonly wading: WadingScans | undefined
}

/** Scans that went over more deleted rows than they found. */
export interface WadingScans {
  /** How many there were. */
  readonly scans: number
  /** Rows that the latest one found, and deleted rows that it read past. */
  readonly rows: number
  readonly tombstones: number
}

export interface SplitRefusal {
  readonly reason: 'single-hot-row' | 'load-at-one-end' | 'too-few-samples' | 'recent-split'
  /** Share of the samples that shows it, 0 to 1; after a split, the share of the rest that is over. */
  readonly share: number
  readonly words: string
}

export interface TableLoadReport {
  readonly table: TableId
  readonly tablets: number
  readonly rows: number
  readonly bytes: number
  readonly tombstones: number
  readonly readsPerSecond: number
  readonly writesPerSecond: number
}

export interface ServerReport {
  readonly id: number
  readonly tablets: number
  readonly opsPerSecond: number
  /** Row operations it can do in a second; `undefined` while nothing is simulated. */
  readonly capacity: number | undefined
  /** How long an operation that comes now waits. */
  readonly queueMs: number
  readonly rejectedPerSecond: number
}

export interface TabletsReport {
  readonly atMs: number
  readonly windowMs: number
  /** Whether capacity is simulated: delays and overload errors. */
  readonly simulated: boolean
  /** Whether rows and bytes are counted. At a store that several processes share they are not: all of them are 0. */
  readonly counted: boolean
  readonly scale: number
  readonly tables: readonly TableLoadReport[]
  readonly tablets: readonly TabletReport[]
  readonly servers: readonly ServerReport[]
  readonly requests: RequestsReport
}

/** Requests of clients over the window. */
export interface RequestsReport {
  readonly perSecond: number
  readonly rejectedPerSecond: number
  readonly latencyP50Ms: number
  readonly latencyP99Ms: number
}

export type TabletEventKind = 'split' | 'split-refused' | 'merge' | 'move' | 'compaction'

export interface TabletEvent {
  /** 1, 2, 3, …: ask for those after the last one seen. */
  readonly sequence: number
  readonly atMs: number
  readonly kind: TabletEventKind
  readonly table: TableId
  readonly tablet: number
  /** The split point, in words. */
  readonly at: string | undefined
  /** Bytes of the split point; of a merge, of the bound that is no more. */
  readonly atHex: string | undefined
  /** Bytes of the range of the tablet as it was before, '' for an open end. */
  readonly startHex: string
  readonly endHex: string
  /** The tablet that came of a split, or went in a merge. */
  readonly other: number | undefined
  readonly fromServer: number | undefined
  readonly toServer: number | undefined
  readonly reason: 'load' | 'size' | 'cold' | 'balance' | 'asked'
  /** One sentence with the evidence. */
  readonly words: string
}

/** A grid of load: one row per key range, one column per slot of time, oldest first. */
export interface HeatReport {
  readonly atMs: number
  readonly stepMs: number
  /** When each column begins. */
  readonly columns: readonly number[]
  readonly rows: readonly HeatRow[]
  /** Events that fall into the columns, oldest first. */
  readonly events: readonly TabletEvent[]
}

export interface HeatRow {
  readonly table: TableId
  readonly start: string
  readonly end: string
  /** The common words of the row keys in the range. */
  readonly label: string
  /** Row operations a second, per column. */
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  readonly bytes: readonly number[]
}

/** A place between two row keys: rows from it on lie behind it. */
export interface HeatBound {
  /** Bytes of the first row key behind it; '' is an open end. */
  readonly hex: string
  readonly words: string
  /** Project and database, namespace, kind; then the rest of the row key. As many as the row key has. */
  readonly levels: readonly string[]
}

/**
 * Load of a key range in a column, in totals of its time: bounds by their places in the list of bounds; reads, writes, bytes;
 * milliseconds that operations waited for their server; refused operations; deleted rows that scans went over.
 */
export type HeatCellReport = readonly [
  start: number,
  end: number,
  reads: number,
  writes: number,
  bytes: number,
  waitMs: number,
  refused: number,
  tombstones: number,
]

/** A slot of time of one table. Its key ranges are disjoint, ascending, and its own: others had no load. */
export interface HeatColumnReport {
  readonly table: TableId
  readonly atMs: number
  readonly stepMs: number
  readonly cells: readonly HeatCellReport[]
}

export interface HeatTabletReport {
  readonly table: TableId
  readonly id: number
  /** Places in the list of bounds. */
  readonly start: number
  readonly end: number
  readonly server: number
  /** Why the last wish to split it was not granted. */
  readonly splitRefusal: string | undefined
}

/** Heat by the second. The reports of one reader follow each other: bounds and columns of each are added to those before. */
export interface HeatRecordingReport {
  readonly format: 'sixtables-heat-1'
  /** All that is known, in place of the reports before; else what is new. */
  readonly isWhole: boolean
  readonly atMs: number
  readonly simulated: boolean
  readonly scale: number
  readonly bounds: readonly HeatBound[]
  /** Oldest first. Columns of the time before the recording began are of 1 to 600 s, the older the longer. */
  readonly columns: readonly HeatColumnReport[]
  readonly events: readonly TabletEvent[]
  /** All tablets, when one of them has changed. */
  readonly tablets: readonly HeatTabletReport[] | undefined
}

export interface HeatOptions {
  /** Default: all tables. */
  readonly table?: TableId | undefined
  /** How far back; default 10 minutes. The tier with the finest step that reaches so far is shown. */
  readonly spanMs?: number | undefined
  /** At most so many rows a table; neighbours are joined. Default 32. */
  readonly rowsMax?: number | undefined
}

/** An entity group under load. */
export interface GroupReport {
  /** Key of the root, in words. */
  readonly group: string
  /** Bytes with which the row keys of its log begin. */
  readonly logHex: string
  readonly commitsPerSecond: number
  /** Commits that ended in ABORTED for another's sake, and locks waited for. */
  readonly conflictsPerSecond: number
  readonly waitsPerSecond: number
}

export type FindingKind =
  | 'sequential-keys'
  | 'monotonic-index'
  | 'hot-key'
  | 'hot-range'
  | 'sudden-start'
  | 'scan-over-tombstones'
  | 'hot-entity-group'
  | 'unread-index'
  | 'single-calls'
  | 'large-offset'
  | 'duplicate-in-commit'
  | 'negative-id'
  | 'slash-or-dot-in-name'
  | 'needless-index'

export interface Finding {
  readonly kind: FindingKind
  /** Subject in words: a key range, a kind, an index, an entity group. One finding per kind and subject. */
  readonly subject: string
  /** One sentence: what is seen. */
  readonly words: string
  /** Facts with their figures. */
  readonly evidence: readonly string[]
  /** Share of the load or of the calls that shows it, 0 to 1. */
  readonly share: number
  readonly remedy: string
  /** The lab that teaches it. */
  readonly lab: string
  readonly firstSeenMs: number
  readonly lastSeenMs: number
  /** Where its rows lie; absent: it is not of one key range. */
  readonly place?: FindingPlace | undefined
}

/** Rows of `table` from `startHex` to before `endHex`, bytes of row keys, '' for an open end. */
export interface FindingPlace {
  readonly table: TableId
  readonly startHex: string
  readonly endHex: string
}
