/**
 * The port of a store from another package, such as one that several processes share. The port commits and reads; the engine
 * does the rest, from the check of a request to its plan.
 *
 *   openEngine({ store: adapter }) ─▶ adapter.open(parts) ─▶ port.open() ─▶ port.start() … port.close()
 *
 * A store of one process has no port, but a log and transactions ({@link LocalParts}).
 */
import type { CheckSource } from '../check/checker.ts'
import type { Scheduler } from '../clock.ts'
import type { IndexWork } from '../database/index-builds/index-work.ts'
import type { DatabaseSettings, Mode } from '../database/settings.ts'
import type { Reading, StoreCommits, TransactionVerbs } from '../database/store-verbs.ts'
import type { PartitionScope } from '../model/key.ts'
import type { LogCellsReader } from '../observe/inspect/inspector.ts'
import type { Random } from '../random.ts'
import type { RowKv, StoreState } from '../storage/kv.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { TableView } from '../tables/table.ts'

/** The way to read and repair the rows that are checked. */
export type PlaceSource = Pick<CheckSource, 'atOneMoment' | 'alone' | 'remedy'>

/** A call to a store over a network. */
export interface StoreCall {
  readonly method: string
  /** Name of the status; `OK` for a success. */
  readonly code: string
  readonly durationMs: number
  /** Whether it repeats a failed call. */
  readonly isRetry: boolean
  /** Whether it is a conditional write whose condition was false. */
  readonly isConflict: boolean
}

/** Figures of one process at a store that several processes write. */
export interface StoreFigures {
  /** Calls `observer` for each later call to the store. */
  observeCalls(observer: (call: StoreCall) => void): void
  /** Age of the oldest unfinished commit of this process, 0 = none. */
  readonly oldestCommitMs: number
  /** The lead of its clock over the clock of the store; `undefined` = unknown. */
  readonly clockAheadMicros: bigint | undefined
  /** The end of its latest sweep of old cells, microseconds since the epoch; `undefined` = none yet. */
  readonly sweptAtMicros: bigint | undefined
}

export interface PortParts {
  readonly scheduler: Scheduler
  readonly random: Random
  /** Index rules of a commit, by the code of its database and its epoch (catalogue.ts). */
  rulesOf(database: string, epoch: number): IndexRules
  /** Reads the recorded state of a database again, because another process changed its indexes. */
  adopt(database: string): Promise<void>
  onFailure(error: unknown): void
}

export interface StoreAdapter {
  /** Settings of a mode that are different at this store. */
  settings(mode: Mode): Partial<DatabaseSettings>
  open(parts: PortParts): StorePort
}

export interface StorePort {
  readonly kv: RowKv
  /** Location of the rows, and whether they can be reached. */
  readonly state: StoreState
  readonly figures: StoreFigures
  readonly transactions: TransactionVerbs
  readonly commits: StoreCommits
  readonly indexWork: IndexWork
  /** The reason why resets are refused; absent = they are allowed. */
  readonly resetRefusal: string | undefined
  /** The way to open a store in memory instead, for messages. */
  readonly memoryAdvice: string
  /** The oldest readable moment, in microseconds. */
  oldestReadable(): bigint
  readonly reading: Reading
  /** @throws FAILED_PRECONDITION for settings that this store does not support */
  checkSettings(changed: Partial<DatabaseSettings>): void
  /** @throws UNIMPLEMENTED for a repair, if it is not supported */
  checkSource(isRepair: boolean): PlaceSource
  atOneMoment<T>(database: string, work: (view: TableView) => Promise<T>): Promise<T>
  /** The kept log records of a group, newest first. */
  readonly logOf: LogCellsReader
  /**
   * Checks that this version can use the store, and finds its databases.
   *
   * @param isLook - nothing will be written
   * @returns the codes of the databases
   */
  open(isLook: boolean): Promise<readonly string[]>
  isNew(): Promise<boolean>
  start(): void
  /**
   * Runs a duty of one process at a time, unless another process has done it within `everyMs`.
   *
   * @param dutyOf - its name, from the codes of all databases; `undefined` = nothing to do
   */
  inTurn(
    dutyOf: (databases: readonly string[]) => string | undefined,
    everyMs: number,
    work: () => Promise<unknown>,
  ): Promise<void>
  /** Deletes the entities of a scope, each database at one moment. Id counters and composite indexes stay. */
  reset(scope: PartitionScope): Promise<void>
  /** Stops background work; the rows stay. */
  close(): Promise<void>
}
