/** Options of an engine, and its counters. */
import type { Scheduler } from '../clock.ts'
import type { MissingIndexPolicy } from '../database/query-indexes.ts'
import type { Mode, TtlPolicy } from '../database/settings.ts'
import type { IdCollisions } from '../ids/allocator.ts'
import type { ApplyPolicy } from '../log/apply-policy.ts'
import type { RetentionLimits } from '../log/retention.ts'
import type { TabletOptions } from '../observe/tablets/tablets.ts'
import type { Durability, Kv } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import type { StoreAdapter } from './store-port.ts'

export interface EngineOptions {
  /** Folder of the data; without one, and without `kv`, all is in memory. */
  readonly dir?: string | undefined
  /** A store to work on instead; closed with the engine. */
  readonly kv?: Kv | undefined
  /** A store of another package, which other processes may use at the same time; in the place of `dir` and `kv`. */
  readonly store?: StoreAdapter | undefined
  /** Preset of every database's settings; default `firestore`. */
  readonly mode?: Mode | undefined
  /** Kinds whose entities expire, in every database. */
  readonly ttl?: readonly TtlPolicy[] | undefined
  /** Whether a composite index that a query lacks is built for it (default), or asked for. */
  readonly indexes?: MissingIndexPolicy | undefined
  /** index.yaml; by default that in `dir`, if there is one. `false`: none. */
  readonly indexFile?: string | false | undefined
  /** Told what is wrong with index.yaml, in a line. */
  readonly onIndexFileTrouble?: ((trouble: string) => void) | undefined
  /** Replaces the preset's apply policy. */
  readonly apply?: ApplyPolicy | undefined
  /** Replaces the preset's way with automatic ids that are in use. */
  readonly idCollisions?: IdCollisions | undefined
  readonly durability?: Durability | undefined
  /** Transactions that may be open at a time, in all databases; default 100,000. More are refused with RESOURCE_EXHAUSTED. */
  readonly openTransactionsMax?: number | undefined
  /** Bytes of keys and key ranges that open transactions together may have read; default 512 MiB. More gets RESOURCE_EXHAUSTED. */
  readonly transactionBytesMax?: number | undefined
  /**
   * How often statistics (`__Stat_…`) are taken: queries within that time see the same ones, as in production, which takes them
   * about once a day. Default 0: at each query.
   */
  readonly statisticsEveryMs?: number | undefined
  /** Seed of every draw the engine makes; default 1. */
  readonly seed?: number | undefined
  readonly scheduler?: Scheduler | undefined
  readonly retention?: RetentionLimits | undefined
  /** Whether waiting records are applied on opening (default). `false` leaves them as found, for a look at a closed store. */
  readonly rollForward?: boolean | undefined
  /** Gives up what was written from a damaged place in the log on. Default: such a folder is refused. */
  readonly repairLog?: boolean | undefined
  /** Tablets: simulated capacity, thresholds, policies; by default they only watch (observe/tablets/defaults.ts). */
  readonly tablets?: TabletOptions | undefined
  /** For tests alone: mechanisms that do not work (switched-off.ts). */
  readonly switchedOff?: SwitchedOff | undefined
  /** Called with a failure of background work, such as applying. */
  readonly onBackgroundFailure?: ((error: unknown) => void) | undefined
}

/** Row operations since the engine was opened. */
export interface EngineTotals {
  requests: number
  rowsRead: number
  rowsWritten: number
}
