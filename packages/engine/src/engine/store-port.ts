/**
 * A store that is not of this process alone, as another package gives it to {@link openEngine}: it commits and reads in its own way, and the
 * engine has the rest of a database, from the check of a request to its plan.
 *
 *   openEngine({ store: adapter }) ─▶ adapter.open(parts) ─▶ port.open() ─▶ port.start() … port.close()
 *
 * A store of this process has no port: its log and its transactions are {@link LocalParts}.
 */
import type { CheckSource } from '../check/checker.ts'
import type { Scheduler } from '../clock.ts'
import type { IndexWork } from '../database/index-builds/index-work.ts'
import type { Reading, ReadingDatabase } from '../database/reading.ts'
import type { DatabaseSettings, Mode } from '../database/settings.ts'
import type { Settlement } from '../database/settled.ts'
import type { TransactionVerbs } from '../database/transaction-verbs.ts'
import type { PartitionScope } from '../model/key.ts'
import type { LogCellsReader } from '../observe/inspect/inspector.ts'
import type { Random } from '../random.ts'
import type { RowKv, StoreState } from '../storage/kv.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { TableView } from '../tables/table.ts'

/** How the engine reads what it checks, and repairs it. */
export type PlaceSource = Pick<CheckSource, 'atOneMoment' | 'alone' | 'remedy'>

/** A call to a store that is reached over a network. */
export interface StoreCall {
  readonly method: string
  /** Name of the status, `OK` for an answer. */
  readonly code: string
  readonly durationMs: number
  /** Whether it repeats one that failed. */
  readonly isRetry: boolean
  /** Whether it is a conditional write that changed nothing. */
  readonly isConflict: boolean
}

/** Figures of a process at a store that others write as well. */
export interface StoreFigures {
  /** Tells of each call to the store from now on. */
  observeCalls(observer: (call: StoreCall) => void): void
  /** How long the oldest commit of this process is under way, 0 = none is. */
  readonly oldestCommitMs: number
  /** By how much its clock is ahead of that of the store; `undefined` = that is not known. */
  readonly clockAheadMicros: bigint | undefined
  /** When it last ended a sweep of old cells, in microseconds since the epoch; `undefined` = it has made none. */
  readonly sweptAtMicros: bigint | undefined
}

/** The parts of an engine that a port asks. */
export interface PortParts {
  readonly scheduler: Scheduler
  readonly random: Random
  /** Rules of a commit, by the code of its database and its epoch (catalogue.ts). */
  rulesOf(database: string, epoch: number): IndexRules
  /** Reads what is stored of a database anew: another process changed its indexes. */
  adopt(database: string): Promise<void>
  /** Told of a failure of background work. */
  onFailure(error: unknown): void
}

export interface StoreAdapter {
  /** Settings of a mode that differ at such a store. */
  settings(mode: Mode): Partial<DatabaseSettings>
  open(parts: PortParts): StorePort
}

export interface StorePort {
  readonly kv: RowKv
  /** Where the rows are, and whether they can be reached. */
  readonly state: StoreState
  readonly figures: StoreFigures
  readonly transactions: TransactionVerbs
  readonly indexWork: IndexWork
  /** The reason why nothing may be reset; absent = resets are allowed. */
  readonly resetRefusal: string | undefined
  /** How a store of one process in memory is opened instead, for messages. */
  readonly memoryAdvice: string
  /** The oldest moment that may be read, in microseconds. */
  oldestReadable(): bigint
  reading(database: ReadingDatabase, settlement: Settlement): Reading
  /** @throws FAILED_PRECONDITION for settings that such a store cannot have */
  checkSettings(changed: Partial<DatabaseSettings>): void
  /** @throws UNIMPLEMENTED for a repair, if it makes none */
  checkSource(isRepair: boolean): PlaceSource
  /** Reads rows of a database as they were at one moment. */
  atOneMoment<T>(database: string, work: (view: TableView) => Promise<T>): Promise<T>
  /** The kept log records of a group, newest first. */
  readonly logOf: LogCellsReader
  /**
   * Looks whether this code may work on the store, and for its databases.
   *
   * @param isLook - nothing will be written
   * @returns the codes of the databases
   */
  open(isLook: boolean): Promise<readonly string[]>
  /** Whether it holds no entity. */
  isNew(): Promise<boolean>
  /** Begins its work in the background. */
  start(): void
  /**
   * Does work that one process at a time has to do, unless another one has done it within `everyMs`.
   *
   * @param dutyOf - its name, from the codes of all databases; `undefined` = there is nothing to do
   */
  inTurn(
    dutyOf: (databases: readonly string[]) => string | undefined,
    everyMs: number,
    work: () => Promise<unknown>,
  ): Promise<void>
  /** Deletes the entities of a scope, of each database at one moment. Counters of ids and composite indexes stay. */
  reset(scope: PartitionScope): Promise<void>
  /** Ends its work, not the rows. */
  close(): Promise<void>
}
