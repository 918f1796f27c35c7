/**
 * A read-only view of all layers in words, and the one control that a teacher needs: releasing what is held.
 *
 * It reads without a request's ledger and rolls nothing forward, so that looking changes nothing. What may be long comes in pages
 * (report-page.ts).
 *
 * IN1  The pages of a report have each of its rows, records and versions once, in its order.                      report-pages.test.ts
 */
import type { RequestContext } from '../../context.ts'
import { keyCodes } from '../../encoding/key-codec.ts'
import { prettyPath } from '../../encoding/pretty.ts'
import { DatastoreError } from '../../errors.ts'
import { workOf } from '../../log/apply.ts'
import type { ApplyHold } from '../../log/apply-holds.ts'
import type { LogDatabase } from '../../log/commit-input.ts'
import type { CommitLog } from '../../log/commit-log.ts'
import { decodeLogRecord, type LogRecord } from '../../log/log-record.ts'
import type { PendingRecord } from '../../log/pending.ts'
import type { EntityImage } from '../../model/entity.ts'
import { formatKey, type Key } from '../../model/key.ts'
import { giveWay } from '../../slices.ts'
import type { KeyRange, KvWrite, RowKey, RowKv } from '../../storage/kv.ts'
import { decodeImage, entityRowKey } from '../../tables/entities.ts'
import { handRows, RowProducer } from '../../tables/entity-rows.ts'
import {
  type GroupCode,
  groupOf,
  logRangeOfGroup,
  logRowKey,
  parseLogRowKey,
  pendingRowKey,
} from '../../tables/log-rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { Tablet } from '../tablets/tablet.ts'
import type { ApplyHistory } from './apply-history.ts'
import { idRowsOf, imagesOf, rowReport, rowsBehind } from './entity-report.ts'
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
  VersionsReport,
} from './reports.ts'
import { groupInWords } from './row-words.ts'
import { type TableRowsOptions, tableRows } from './table-rows.ts'
import { type LoggedImage, versionsOf } from './versions.ts'
import { type PendingOptions, recordReport, waitingReport } from './waiting-report.ts'

export interface InspectorParts {
  readonly kv: RowKv
  /** Reads the log of a group where the store keeps it in a way of its own. */
  readonly logOf: LogCellsReader | undefined
  /** Absent in a store with a port: nothing waits there between commit and apply. */
  readonly log: CommitLog | undefined
  readonly history: ApplyHistory
  /** For what is asked without one. */
  context(): RequestContext
  databaseByCode(code: string): LogDatabase
  /** The oldest moment that may be read, in microseconds. */
  oldestReadable(): bigint
  /** The tablets of a table from one row to another, left to right. */
  tabletsBetween(table: TableId, from: RowKey, through: RowKey): readonly Tablet[]
}

export class Inspector {
  readonly #parts: InspectorParts

  constructor(parts: InspectorParts) {
    this.#parts = parts
  }

  /**
   * Every row of an entity in all tables, also those that a held commit will write or delete; with the last of them its group's log.
   *
   * @throws INVALID_ARGUMENT for `after` that is no row key
   */
  async rows(
    key: Key,
    { after, ...options }: RowsOptions = {},
    context: RequestContext = this.#parts.context(),
  ): Promise<RowsReport> {
    const { kv } = this.#parts
    const codes = keyCodes(key)
    const entityRow = entityRowKey(codes.partition, codes.path)
    const rules = this.#parts.databaseByCode(codes.partition)
    const group = groupOf(codes.partition, codes.path)
    const pending = this.#waiting(group).filter(({ changes }) => changes.some(({ path }) => path === codes.path))

    // The present rows of this entity: candidates are the rows of every state it has had since the last apply.
    const stored = await kv.get(entityRow)
    const cells = [stored, ...pending.flatMap(({ changes }) => imagesOf(changes, codes.path))]
    const candidates = new Set<RowKey>([entityRow, ...idRowsOf(key)])
    const candidate = { write: (row: RowKey) => candidates.add(row) }
    for (const after of cells) handRows({ codes, before: undefined, after }, rules, candidate)
    for (const { version } of pending) candidates.add(pendingRowKey(group, version))

    const planned = new Map<RowKey, KvWrite['value']>()
    const producer = new RowProducer({
      write: (row, value) => {
        if (candidates.has(row)) planned.set(row, value)
      },
    })
    for (const { milestone, changes } of pending) {
      for (const change of changes) {
        if (milestone !== 'A') producer.entity(change)
        producer.indexRows(change)
      }
    }
    const page = new ReportPage(context)
    const rows: RowReport[] = []
    for (const row of rowsBehind(candidates, after)) {
      const cell = await kv.get(row)
      const next = planned.has(row) ? { value: planned.get(row) } : undefined
      const report = rowReport(row, cell, next, options.words)
      if (report === undefined) continue
      if (page.isFull) {
        const log = { group: groupInWords(group), records: [], hasMore: true }
        return { key: prettyPath(key.path), rows, next: rows.at(-1)?.rowKey ?? '', log }
      }
      rows.push(report)
      await page.add(report.row, report.rowKey, report.value)
    }
    return { key: prettyPath(key.path), rows, log: await this.#logOf(group, options, context, page) }
  }

  /** The kept log records of the group that `key` belongs to: those before `before`, of them the newest. */
  log(key: Key, options: LogOptions = {}, context: RequestContext = this.#parts.context()): Promise<LogReport> {
    const { partition, path } = keyCodes(key)
    return this.#logOf(groupOf(partition, path), options, context, new ReportPage(context))
  }

  /** The versions of an entity that the kept log records tell of: those before `before`, of them the newest. */
  async versions(
    key: Key,
    { limit = Number.POSITIVE_INFINITY, before }: VersionsOptions = {},
    context: RequestContext = this.#parts.context(),
  ): Promise<VersionsReport> {
    const page = new ReportPage(context)
    const images: LoggedImage[] = []
    let newer: LoggedImage | undefined
    let isWhole = true
    for await (const image of this.#imagesOf(key, context)) {
      if (before !== undefined && image.version >= before) {
        newer = image
        continue
      }
      isWhole = images.length < limit && !page.isFull
      if (!isWhole) break
      images.push(image)
      await page.add(versionWords)
    }
    const oldest = isWhole ? undefined : images.at(-1)
    images.reverse()
    // The one behind them says until when the last of them was the newest.
    const versions = versionsOf(newer === undefined ? images : [...images, newer], this.#parts.oldestReadable())
    return {
      key: prettyPath(key.path),
      versions: versions.slice(0, images.length),
      ...(oldest === undefined ? {} : { previous: oldest.version.toString() }),
    }
  }

  /**
   * An entity as it is committed, applied or not; with `version` as it was then.
   *
   * @returns `undefined` when there is none, or was none
   * @throws NOT_FOUND for a version that no kept record tells of
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
    throw new DatastoreError(
      'NOT_FOUND',
      `the log of ${formatKey(key)} has no version ${version}; it keeps commits for a while`,
    )
  }

  /** Commits not yet wholly applied (waiting-report.ts). */
  async pending(options: PendingOptions = {}, context: RequestContext = this.#parts.context()): Promise<PendingReport> {
    const { log } = this.#parts
    return log === undefined ? { pending: [] } : await waitingReport(log.pending, options, context)
  }

  /** The latest steps of applying, and why each was taken. */
  applied(): AppliedReport {
    const steps = this.#parts.history.steps().map(({ group, version, reached, cause }) => ({
      group: groupInWords(group),
      version: version.toString(),
      reached,
      cause,
    }))
    return { steps }
  }

  /**
   * Applies what the group of `key` holds back: up to milestone A its oldest record only, since the next must wait for
   * that one's index rows; up to milestone B all of its records.
   *
   * @param version - up to the record of this commit instead: those before it wholly, and it to the milestone
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
   * Holds back between commit and apply what is committed from now on and matches, whatever the policy.
   *
   * @param onCatch - told of each record that it holds back
   * @returns ends the hold: what no other one keeps back goes its way
   */
  hold(which: ApplyHold = {}, onCatch?: () => void): () => Promise<void> {
    const release = this.#parts.log?.holds.add(which, onCatch)
    return async () => await release?.()
  }

  /** Applies everything that is held, in all databases, or in the one with this code. @returns how many records waited */
  async releaseAll(database?: string): Promise<number> {
    const { log } = this.#parts
    if (log === undefined) return 0
    const { pending } = log
    const groups = database === undefined ? [...pending.groups()] : pending.groupsOf(database)
    const waiting = groups.reduce((sum, group) => sum + pending.countOf(group), 0)
    await log.applier.rollForwardGroups(groups, 'release')
    return waiting
  }

  /** Rows of one table in row key order, with the tablets that they lie in (table-rows.ts). */
  table(
    table: TableId,
    options: TableRowsOptions = {},
    context: RequestContext = this.#parts.context(),
  ): Promise<TableReport> {
    return tableRows(this.#parts, table, options, context)
  }

  /**
   * The states of an entity, newest first: those that the kept records of its group made, waiting ones too, and the one before the
   * oldest of them.
   */
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

  #waiting(group: GroupCode): readonly PendingRecord[] {
    return this.#parts.log?.pending.of(group) ?? []
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

  /** The kept records of a group before a version, newest first. */
  async *#records(group: GroupCode, context: RequestContext, before?: bigint): AsyncGenerator<StoredRecord> {
    for await (const record of this.#parts.logOf?.(group, before) ?? this.#logRows(group, before)) {
      yield record
      await giveWay(context, 1 + record.bytes / bytesOfWork)
    }
  }

  async *#logRows(group: GroupCode, before: bigint | undefined): AsyncGenerator<StoredRecord> {
    const all: KeyRange = logRangeOfGroup(group)
    const range = before === undefined ? all : { start: all.start, end: logRowKey(group, before) }
    const scan = this.#parts.kv.scan(range, { reverse: true })
    try {
      for (let rows = await scan.next(recordsAtOnce); rows.length > 0; rows = await scan.next(recordsAtOnce)) {
        for (const { key, value } of rows) {
          const { changes } = decodeLogRecord(value)
          yield { ...parseLogRowKey(key), changes, logRow: key, bytes: value.length }
        }
      }
    } finally {
      scan.close()
    }
  }
}

/** Records may be of megabytes: they are read a few at a time. */
const recordsAtOnce = 16
/** So many bytes of a record take as long to be read as a row. */
const bytesOfWork = 1024
/** As long as the words of a version. */
const versionWords = ' '.repeat(200)

/** The part of a group's log that is told. */
export interface LogOptions {
  /** The newest so many records; absent = all. */
  readonly records?: number | undefined
  /** Only records before this version. */
  readonly before?: bigint | undefined
  /** Maximum length of the words of a change, and of a row's value; default: unlimited. */
  readonly words?: number | undefined
}

export interface RowsOptions extends LogOptions {
  /** The row key to go on behind, in hexadecimal, as `next` of the report before. */
  readonly after?: string | undefined
}

export interface VersionsOptions {
  /** The newest so many, at least 1; absent = all. */
  readonly limit?: number | undefined
  /** Only versions before this one. */
  readonly before?: bigint | undefined
}

/** The kept records of a group before a version, newest first. */
export type LogCellsReader = (group: GroupCode, before: bigint | undefined) => AsyncGenerator<StoredRecord>

/** A log record as it lies in the store. */
export interface StoredRecord
  extends Pick<LogRecord, 'changes'>,
    Pick<PendingRecord, 'version' | 'partition' | 'logRow'> {
  readonly bytes: number
}
