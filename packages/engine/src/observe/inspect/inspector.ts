/**
 * A read-only view of all layers in words, with one control for teachers: the release of held commits.
 *
 *   rows(ToDo:1)     the Entities row and index rows of ToDo:1, and the log of its group
 *
 * Its reads are not metered and apply nothing, so inspection changes nothing. Long reports come in pages (report-page.ts),
 * which contain each row, record and version once, in order.
 */

import type { RequestContext } from '../../context.ts'
import { keyCodes } from '../../encoding/key-codec.ts'
import { prettyPath, prettyTimestamp } from '../../encoding/pretty.ts'
import { notFound } from '../../errors.ts'
import { type ApplyEvent, workOf } from '../../log/apply.ts'
import type { ApplyHold } from '../../log/apply-holds.ts'
import type { CommitLog } from '../../log/commit-log.ts'
import type { LogDatabase } from '../../log/log-database.ts'
import { decodeLogRecord, type LogRecord } from '../../log/log-record.ts'
import type { PendingRecord } from '../../log/pending.ts'
import { milestonesOf } from '../../log/record-writes.ts'
import type { EntityImage } from '../../model/entity.ts'
import { formatKey, type Key } from '../../model/key.ts'
import { giveWay, runInSlices } from '../../slices.ts'
import { BTree } from '../../storage/btree.ts'
import { TreeScan } from '../../storage/btree-scan.ts'
import { type KvWrite, type RowKey, type RowKv, rowsFrom } from '../../storage/kv.ts'
import { decodeImage, entityRowKey } from '../../tables/entities.ts'
import { EntityRows, RowProducer } from '../../tables/entity-rows.ts'
import { type GroupCode, groupOf, logRowKey, parseLogRowKey, pendingRowKey } from '../../tables/log-rows.ts'
import { rowAfter, rowsOf } from '../../tables/rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { Tablet } from '../tablets/tablet.ts'
import { idRowsOf, rowReport, tableNameOf, tablesFrom } from './entity-report.ts'
import { ReportPage } from './report-page.ts'
import type {
  AppliedReport,
  LogRecordReport,
  LogReport,
  PendingReport,
  ReleaseReport,
  RowReport,
  RowsReport,
  TableReport,
  VersionReport,
  VersionsReport,
} from './reports.ts'
import { groupInWords } from './row-words.ts'
import { type TableRowsOptions, tableRows } from './table-rows.ts'
import { type PendingOptions, recordReport, waitingReport } from './waiting-report.ts'

export interface InspectorParts {
  readonly kv: RowKv
  /** Reads the log of a group, in a store with its own way to keep it. */
  readonly logOf: LogCellsReader | undefined
  /** Absent in a store with a port: there, nothing waits between commit and apply. */
  readonly log: CommitLog | undefined
  context(): RequestContext
  databaseByCode(code: string): LogDatabase
  /** The oldest moment that may be read, in microseconds. */
  oldestReadable(): bigint
  tabletsBetween(table: TableId, from: RowKey, through: RowKey): readonly Tablet[]
}

type AppliedStep = Pick<PendingRecord, 'group' | 'version'> & Pick<AppliedReport['steps'][number], 'reached' | 'cause'>

export class Inspector {
  readonly #parts: InspectorParts
  /** Oldest first. */
  #applied: AppliedStep[] = []

  constructor(parts: InspectorParts) {
    this.#parts = parts
  }

  /**
   * Every row of an entity in all tables, including those that a held commit will write or delete. The last page also has its group's log.
   *
   * @throws INVALID_ARGUMENT if `after` is no row key
   */
  async rows(
    key: Key,
    { after, ...options }: RowsOptions = {},
    context: RequestContext = this.#parts.context(),
  ): Promise<RowsReport> {
    const { kv } = this.#parts
    const codes = keyCodes(key)
    const entityRow = entityRowKey(codes.partition, codes.path)
    const group = groupOf(codes.partition, codes.path)
    const records = this.#parts.log?.pending.of(group) ?? []
    const waiting = records.filter(({ changes }) => changes.some(({ path }) => path === codes.path))
    const stored = { codes, before: undefined, after: await kv.get(entityRow) }
    const present = new EntityRows(stored, this.#parts.databaseByCode(codes.partition))
    const others = [entityRow, ...idRowsOf(key), ...waiting.map(({ version }) => pendingRowKey(group, version))]
    const page = new ReportPage(context)
    const rows: RowReport[] = []
    for (const { table, after: last } of tablesFrom(after)) {
      const wants = (row: RowKey): boolean => tableNameOf(row) === table
      // Rows that are there now follow from the stored state; those that waiting changes add or delete have their next value.
      const candidates = new BTree<KvWrite['value'] | 'stored'>()
      const add = (row: RowKey): void => void candidates.set(row, 'stored')
      others.filter(wants).forEach(add)
      await runInSlices(context, indexRowSteps(new RowProducer({ wants, write: add }), present))
      const producer = new RowProducer({ wants, write: (row, value) => void candidates.set(row, value) })
      for (const { milestone, changes } of waiting) {
        for (const change of changes) {
          if (change.path !== codes.path) continue
          if (milestone !== 'A') producer.entity(change)
          await runInSlices(context, indexRowSteps(producer, change))
        }
      }
      const rest = new TreeScan(candidates, { start: rowAfter(last), end: '\xff' }, false)
      for await (const { key: row, value } of rowsFrom(rest, 512)) {
        const cell = await kv.get(row)
        const next = value === 'stored' ? undefined : { value }
        const report = rowReport(row, cell, next, options.words)
        if (report === undefined) continue
        if (page.isFull) {
          const log = { group: groupInWords(group), records: [], hasMore: true }
          return { key: prettyPath(key.path), rows, next: rows.at(-1)?.rowKey ?? '', log }
        }
        rows.push(report)
        await page.add(report.row, report.rowKey, report.value)
      }
    }
    return { key: prettyPath(key.path), rows, log: await this.#logOf(group, options, context, page) }
  }

  log(key: Key, options: LogOptions = {}, context: RequestContext = this.#parts.context()): Promise<LogReport> {
    const { partition, path } = keyCodes(key)
    return this.#logOf(groupOf(partition, path), options, context, new ReportPage(context))
  }

  async versions(
    key: Key,
    { limit = Number.POSITIVE_INFINITY, before }: VersionsOptions = {},
    context: RequestContext = this.#parts.context(),
  ): Promise<VersionsReport> {
    const page = new ReportPage(context)
    const oldestReadable = this.#parts.oldestReadable()
    const versions: VersionReport[] = []
    let newer: bigint | undefined
    let hasMore = false
    for await (const image of this.#imagesOf(key, context)) {
      if (before === undefined || image.version < before) {
        hasMore = versions.length >= limit || page.isFull
        if (hasMore) break
        versions.push(versionReport(image, newer, oldestReadable))
        await page.add(versionWords)
      }
      newer = image.version
    }
    const previous = hasMore ? versions.at(-1)?.version : undefined
    return {
      key: prettyPath(key.path),
      versions: versions.reverse(),
      ...(previous === undefined ? {} : { previous }),
    }
  }

  /**
   * An entity as committed, applied or not; with `version`, its state at that version.
   *
   * @returns `undefined` if it does not, or did not, exist
   * @throws NOT_FOUND for a version that is in no kept record
   */
  async entity(
    key: Key,
    version?: bigint,
    context: RequestContext = this.#parts.context(),
  ): Promise<EntityImage | undefined> {
    if (version === undefined) {
      const codes = keyCodes(key)
      const { log, kv } = this.#parts
      const row = entityRowKey(codes.partition, codes.path)
      const cell = await (log === undefined ? kv.get(row) : log.readCommitted(codes, row))
      return cell === undefined ? undefined : decodeImage(cell)
    }
    for await (const image of this.#imagesOf(key, context)) if (image.version === version) return image.image
    throw notFound(`the log of ${formatKey(key)} has no version ${version}; it keeps commits for a while`)
  }

  async pending(options: PendingOptions = {}, context: RequestContext = this.#parts.context()): Promise<PendingReport> {
    const { log } = this.#parts
    return log === undefined ? { pending: [] } : await waitingReport(log.pending, options, context)
  }

  /** Keeps the latest steps of applying for {@link applied}. */
  noteApplied({ records, reached, cause }: ApplyEvent): void {
    for (const milestone of milestonesOf[reached]) {
      for (const { group, version } of records.slice(-stepsKept)) {
        this.#applied.push({ group, version, reached: milestone, cause })
      }
    }
    if (this.#applied.length >= 2 * stepsKept) this.#applied = this.#applied.slice(-stepsKept)
  }

  applied(): AppliedReport {
    const steps = this.#applied.slice(-stepsKept).map(({ group, version, reached, cause }) => {
      return { group: groupInWords(group), version: version.toString(), reached, cause }
    })
    return { steps }
  }

  /**
   * Applies held records of the group of `key`. Up to milestone A only the oldest one, since the next must wait for its index
   * rows; up to milestone B all of them.
   *
   * @param version - applies up to the record of this commit instead: earlier ones wholly, this one up to the milestone
   */
  async release(key: Key, milestone: 'A' | 'B', version?: bigint): Promise<ReleaseReport> {
    const { log } = this.#parts
    const context: RequestContext = this.#parts.context()
    const { partition, path } = keyCodes(key)
    const group = groupOf(partition, path)
    const end = milestone === 'A' ? log?.pending.oldest(group) : log?.pending.newest(group)
    const last = version ?? end?.version
    let released = 0
    while (log !== undefined) {
      const record = log.pending.oldest(group)
      if (record === undefined || last === undefined || record.version > last) break
      const upTo = record.version === last ? milestone : 'B'
      if (upTo === 'B' || record.milestone === 'committed') released++
      await log.applier.step(group, upTo, 'release')
      if (upTo === 'A') break
      await giveWay(context, workOf(record))
    }
    return { group: groupInWords(group), milestone, released }
  }

  /**
   * Holds matching commits between commit and apply from now on, whatever the policy.
   *
   * @param onCatch - called for each record held
   * @returns a function that ends the hold; records that no other hold keeps go on
   */
  hold(which: ApplyHold = {}, onCatch?: () => void): () => Promise<void> {
    const release = this.#parts.log?.holds.add(which, onCatch)
    return async () => await release?.()
  }

  /** Applies all held records, in all databases or in the one with this code. @returns the number of records that waited */
  async releaseAll(database?: string): Promise<number> {
    const { log } = this.#parts
    if (log === undefined) return 0
    const { pending } = log
    const groups = database === undefined ? [...pending.groups()] : pending.groupsOf(database)
    const waiting = groups.reduce((sum, group) => sum + pending.countOf(group), 0)
    await log.applier.rollForwardGroups(groups, 'release')
    return waiting
  }

  table(
    table: TableId,
    options: TableRowsOptions = {},
    context: RequestContext = this.#parts.context(),
  ): Promise<TableReport> {
    return tableRows(this.#parts, table, options, context)
  }

  /** The states of an entity, newest first: those in the kept records of its group, applied or not, and the one before the oldest. */
  async *#imagesOf(key: Key, context: RequestContext): AsyncGenerator<LoggedImage> {
    const { partition, path } = keyCodes(key)
    const group = groupOf(partition, path)
    let earlier: Uint8Array | undefined
    let isLogged = false
    for await (const { version, changes } of this.#records(group, context)) {
      const change = changes.find((one) => one.path === path)
      if (change === undefined) continue
      const image = change.after === undefined ? undefined : decodeImage(change.after)
      yield { version, image, state: this.#stateOf(group, version) }
      isLogged = true
      earlier = change.before
    }
    const first = isLogged ? earlier : await this.#parts.kv.get(entityRowKey(partition, path))
    if (first === undefined) return
    const image = decodeImage(first)
    yield { version: image.version, image, state: 'applied' }
  }

  #stateOf(group: GroupCode, version: bigint): LogRecordReport['state'] {
    return this.#parts.log?.pending.find(group, version)?.milestone ?? 'applied'
  }

  async #logOf(
    group: GroupCode,
    { records: recordsMax = Number.POSITIVE_INFINITY, before, words }: LogOptions,
    context: RequestContext,
    page: ReportPage,
  ): Promise<LogReport> {
    const records: LogRecordReport[] = []
    let hasMore = false
    for await (const record of this.#records(group, context, before)) {
      hasMore = records.length >= recordsMax || page.isFull
      if (hasMore) break
      records.push(await recordReport(page, { group, ...record }, this.#stateOf(group, record.version), words))
    }
    const previous = hasMore ? records.at(-1)?.version : undefined
    records.reverse()
    return {
      group: groupInWords(group),
      records,
      ...(hasMore ? { hasMore } : {}),
      ...(previous === undefined ? {} : { previous }),
    }
  }

  async *#records(group: GroupCode, context: RequestContext, before?: bigint): AsyncGenerator<StoredRecord> {
    for await (const record of this.#parts.logOf?.(group, before) ?? this.#logRows(group, before)) {
      yield record
      await giveWay(context, 1 + record.bytes / bytesOfWork)
    }
  }

  async *#logRows(group: GroupCode, before: bigint | undefined): AsyncGenerator<StoredRecord> {
    const all = rowsOf('Log', group)
    const range = before === undefined ? all : { start: all.start, end: logRowKey(group, before) }
    for await (const { key, value } of rowsFrom(this.#parts.kv.scan(range, { reverse: true }), recordsAtOnce)) {
      const { changes } = decodeLogRecord(value)
      yield { ...parseLogRowKey(key), changes, logRow: key, bytes: value.length }
    }
  }
}

/** Records may have megabytes, so only a few are read at a time. */
const recordsAtOnce = 16
const stepsKept = 256
/** Places of an entity whose rows are made in one step. */
const placesOfStep = 128
/** Bytes of a record that take as long to read as a row. */
const bytesOfWork = 1024
const versionWords = ' '.repeat(200)

/** The state of an entity after a commit; without an image, the commit deleted it. */
interface LoggedImage extends Pick<LogRecordReport, 'state'> {
  readonly version: bigint
  readonly image: EntityImage | undefined
}

/** @param newer - the next version. @param oldestReadable - microseconds */
function versionReport(
  { version, image, state }: LoggedImage,
  newer: bigint | undefined,
  oldestReadable: bigint,
): VersionReport {
  return {
    version: version.toString(),
    committedAt: prettyTimestamp(version),
    operation: image === undefined ? 'delete' : 'put',
    state,
    ...(newer === undefined ? {} : { readTime: prettyTimestamp(newer - 1n) }),
    readable: newer === undefined || newer > oldestReadable,
  }
}

function* indexRowSteps(producer: RowProducer, change: EntityRows): Generator<number, void> {
  for (let from = 0; from < change.places; from += placesOfStep) {
    producer.indexRows(change, from, from + placesOfStep)
    yield 2 * placesOfStep
  }
}

export interface LogOptions {
  /** Maximum number of records, the newest ones; absent = all. */
  readonly records?: number | undefined
  /** Only records before this version. */
  readonly before?: bigint | undefined
  /** Maximum length of the words of a change, and of a row's value; default: unlimited. */
  readonly words?: number | undefined
}

export interface RowsOptions extends LogOptions {
  /** The last row key of the report before, in hexadecimal (its `next`). */
  readonly after?: string | undefined
}

export interface VersionsOptions {
  /** Maximum number, the newest ones, at least 1; absent = all. */
  readonly limit?: number | undefined
  /** Only versions before this one. */
  readonly before?: bigint | undefined
}

/** The kept records of a group before a version, newest first. */
export type LogCellsReader = (group: GroupCode, before: bigint | undefined) => AsyncGenerator<StoredRecord>

export interface StoredRecord
  extends Pick<LogRecord, 'changes'>,
    Pick<PendingRecord, 'version' | 'partition' | 'logRow'> {
  readonly bytes: number
}
