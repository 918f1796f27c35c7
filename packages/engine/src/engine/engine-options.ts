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
  /** Folder of the data; without `dir` and `kv` the store is in memory. */
  readonly dir?: string | undefined
  /** A store to use instead; closed with the engine. */
  readonly kv?: Kv | undefined
  /** A store of another package, which several processes can use; replaces `dir` and `kv`. */
  readonly store?: StoreAdapter | undefined
  /** Preset of every database's settings; default `firestore`. */
  readonly mode?: Mode | undefined
  /** Kinds whose entities expire, in every database. */
  readonly ttl?: readonly TtlPolicy[] | undefined
  /** Whether a missing composite index of a query is built (default), or the query refused. */
  readonly indexes?: MissingIndexPolicy | undefined
  /** Path of index.yaml; default: the one in `dir`, if it exists. `false`: none. */
  readonly indexFile?: string | false | undefined
  /** Called with an error in index.yaml, in one line. */
  readonly onIndexFileTrouble?: ((trouble: string) => void) | undefined
  /** Replaces the preset's apply policy. */
  readonly apply?: ApplyPolicy | undefined
  /** Replaces the preset's rule for automatic ids that are in use. */
  readonly idCollisions?: IdCollisions | undefined
  readonly durability?: Durability | undefined
  /** Maximum number of open transactions in all databases; default 100,000. More get RESOURCE_EXHAUSTED. */
  readonly openTransactionsMax?: number | undefined
  /** Maximum bytes of keys and key ranges read by all open transactions together; default 512 MiB. More get RESOURCE_EXHAUSTED. */
  readonly transactionBytesMax?: number | undefined
  /** Age in ms at which statistics (`__Stat_…`) are computed again. Default 0: at each query. Production: about once a day. */
  readonly statisticsEveryMs?: number | undefined
  /** Seed of all random draws of the engine; default 1. */
  readonly seed?: number | undefined
  readonly scheduler?: Scheduler | undefined
  readonly retention?: RetentionLimits | undefined
  /** Whether pending records are applied on opening (default). `false` leaves them unchanged, to inspect a closed store. */
  readonly rollForward?: boolean | undefined
  /** Drops the log from its first damaged place on. Default: opening such a folder fails. */
  readonly repairLog?: boolean | undefined
  /** Tablets: simulated capacity, thresholds, policies. By default they only observe (observe/tablets/defaults.ts). */
  readonly tablets?: TabletOptions | undefined
  /** For tests alone: switches mechanisms off (switched-off.ts). */
  readonly switchedOff?: SwitchedOff | undefined
  /** Called with an error of background work, such as applying. */
  readonly onBackgroundFailure?: ((error: unknown) => void) | undefined
}

/** Row operations since the engine was opened. */
export interface EngineTotals {
  requests: number
  rowsRead: number
  rowsWritten: number
}
