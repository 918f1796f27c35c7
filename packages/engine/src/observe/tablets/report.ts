/**
 * Reports of the tablets: plain data, ready for JSON, the same for the inspector, HTTP, `sixtables top` and the labs.
 *
 *   TabletsReport   now: tables, tablets, servers            HeatReport   a grid: key range × time
 *   TabletEvent     what happened: split, merge, move, …
 *
 * Instants are milliseconds since the epoch on the engine's clock. Rates are row operations a second over the window. Row keys
 * are in words, table › namespace › kind › property › value › key, with '' for the open end of a table; a tablet also has their
 * bytes in hexadecimal, which tell any two ranges apart. All numbers of a report are of one moment. With weights
 * (--simulate-scale, labs), every number counts simulated operations.
 */
import type { TableId } from '../../tables/table.ts'

/** The size and load of a tablet, or of all tablets of a table. */
interface LoadReport {
  readonly table: TableId
  readonly rows: number
  readonly bytes: number
  /** Deleted rows that scans still pass, until a major compaction. */
  readonly tombstones: number
  readonly readsPerSecond: number
  readonly writesPerSecond: number
}

/** A tablet: rows of `table` from `start` to before `end`. */
export interface TabletReport extends LoadReport {
  /** Unique while the engine is open; the right half of a split gets a new one. */
  readonly id: number
  readonly start: string
  readonly end: string
  readonly startHex: string
  readonly endHex: string
  readonly bytesPerSecond: number
  /** Share of the load of all tablets of its table, 0 to 1. */
  readonly loadShare: number
  readonly server: number
  /** During a move or split, until when calls on it fail. */
  readonly unavailableUntilMs: number | undefined
  readonly splitRefusal: SplitRefusal | undefined
  /** `undefined`: no scan passed more deleted rows than it found, or only few. */
  readonly wading: WadingScans | undefined
}

export type TabletLoad = Pick<TabletReport, 'id' | 'server' | 'readsPerSecond' | 'writesPerSecond'>

export type TabletPlace = Pick<TabletReport, 'table' | 'start' | 'end' | 'startHex' | 'endHex'>

/** A tablet with scans that passed more deleted rows than they found. */
export type WadingTablet = TabletPlace & { readonly wading: WadingScans }

export interface WadingScans {
  readonly scans: number
  /** Rows that the latest one found, and deleted rows that it passed. */
  readonly rows: number
  readonly tombstones: number
}

export interface SplitRefusal {
  readonly reason: 'single-hot-row' | 'load-at-one-end' | 'too-few-samples' | 'recent-split'
  /** Share of the samples that shows it, 0 to 1; for the rest after a split, the share of that time that is over. */
  readonly share: number
  readonly words: string
}

export interface TableLoadReport extends LoadReport {
  readonly tablets: number
}

export interface ServerReport {
  readonly id: number
  readonly tablets: number
  readonly opsPerSecond: number
  /** Maximum row operations a second; `undefined` without simulation. */
  readonly capacity: number | undefined
  readonly queueMs: number
  readonly rejectedPerSecond: number
}

export interface TabletsReport {
  readonly atMs: number
  readonly windowMs: number
  readonly simulated: boolean
  /** Whether rows and bytes are counted. If several processes share a store they are not, and are all 0. */
  readonly counted: boolean
  readonly scale: number
  readonly tables: readonly TableLoadReport[]
  readonly tablets: readonly TabletReport[]
  readonly servers: readonly ServerReport[]
  readonly requests: RequestsReport
}

export interface RequestsReport {
  readonly perSecond: number
  readonly rejectedPerSecond: number
  readonly latencyP50Ms: number
  readonly latencyP99Ms: number
}

export type TabletEventKind = 'split' | 'split-refused' | 'merge' | 'move' | 'compaction'

export interface TabletEvent {
  /** 1, 2, 3, …; for the next request. */
  readonly sequence: number
  readonly atMs: number
  readonly kind: TabletEventKind
  readonly table: TableId
  readonly tablet: number
  readonly at: string | undefined
  /** Bytes of the split point; for a merge, those of the bound that was removed. */
  readonly atHex: string | undefined
  /** Bytes of the former range of the tablet, '' for an open end. */
  readonly startHex: string
  readonly endHex: string
  /** The tablet that a split created, or a merge removed. */
  readonly other: number | undefined
  readonly fromServer: number | undefined
  readonly toServer: number | undefined
  readonly reason: 'load' | 'size' | 'cold' | 'balance' | 'asked'
  /** One sentence with the evidence. */
  readonly words: string
}

/** A grid of load: one row per key range, one column per time slot, oldest first. */
export interface HeatReport {
  readonly atMs: number
  readonly stepMs: number
  readonly columns: readonly number[]
  readonly rows: readonly HeatRow[]
  /** Events during the columns, oldest first. */
  readonly events: readonly TabletEvent[]
}

export interface HeatRow extends Pick<TabletReport, 'table' | 'start' | 'end'> {
  /** The common words of the row keys in the range. */
  readonly label: string
  /** Row operations a second, per column. */
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  readonly bytes: readonly number[]
}

export interface HeatBound {
  /** Bytes of the first row key after it; '' is an open end. */
  readonly hex: string
  readonly words: string
  /** Project and database, namespace, kind and the rest of the row key, as far as it has them. */
  readonly levels: readonly string[]
}

/**
 * The load of a key range in a column, in totals: start and end as places in the list of bounds; reads, writes, bytes;
 * milliseconds that operations waited for their server; refused operations; deleted rows that scans passed.
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

/** A time slot of one table. Its key ranges are disjoint and ascending; other ranges had no load. */
export interface HeatColumnReport {
  readonly table: TableId
  readonly atMs: number
  readonly stepMs: number
  readonly cells: readonly HeatCellReport[]
}

export interface HeatTabletReport extends Pick<TabletReport, 'table' | 'id' | 'server'> {
  /** Places in the list of bounds. */
  readonly start: number
  readonly end: number
  readonly splitRefusal: string | undefined
}

/** Heat by the second. A reader adds the bounds and columns of each report to those before. */
export interface HeatRecordingReport extends Pick<TabletsReport, 'atMs' | 'simulated' | 'scale'> {
  readonly format: 'sixtables-heat-1'
  /** Whether this replaces all reports before; otherwise it contains only what is new. */
  readonly isWhole: boolean
  readonly bounds: readonly HeatBound[]
  /** Oldest first. Columns before the recording have 1 to 600 s; older ones are longer. */
  readonly columns: readonly HeatColumnReport[]
  readonly events: readonly TabletEvent[]
  /** All tablets, if any of them has changed. */
  readonly tablets: readonly HeatTabletReport[] | undefined
}

export interface HeatOptions {
  /** Default: all tables. */
  readonly table?: TableId | undefined
  /** How far back, default 10 minutes. The report uses the finest tier that reaches so far. */
  readonly spanMs?: number | undefined
  /** Maximum rows per table, default 32; neighbours are joined. */
  readonly rowsMax?: number | undefined
}

export interface GroupReport {
  /** Key of the root, in words. */
  readonly group: string
  /** The first bytes of the row keys of its log. */
  readonly logHex: string
  readonly commitsPerSecond: number
  /** Commits that ended with ABORTED because of another one, and waits for locks. */
  readonly conflictsPerSecond: number
  readonly waitsPerSecond: number
}
