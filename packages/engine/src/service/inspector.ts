/**
 * A read-only view of all layers in words, and the one control that a teacher needs: releasing what is held.
 *
 * It reads without a request's ledger and rolls nothing forward, so that looking changes nothing.
 */
import { hexOf } from '../encoding/bytes.ts'
import { keyCodes, partitionOfCode } from '../encoding/key-codec.ts'
import { prettyPath, prettyRowKey } from '../encoding/pretty.ts'
import { DatastoreError } from '../errors.ts'
import { scatteredRowKey, sequentialRowKey } from '../ids/id-scope.ts'
import type { ApplyHold } from '../log/apply-holds.ts'
import type { LogDatabase } from '../log/commit-input.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { decodeLogRecord, type EntityChange, type LogRecord } from '../log/log-record.ts'
import type { PendingRecord } from '../log/pending.ts'
import type { EntityImage } from '../model/entity.ts'
import { formatKey, isInScope, type Key, lastElement, type PartitionScope } from '../model/key.ts'
import type { KvWrite, RowKey, RowKv } from '../storage/kv.ts'
import type { RowStore } from '../storage/rows.ts'
import { decodeImage, entityRowKey, entityRowOf } from '../tables/entities.ts'
import { handRows, RowProducer, tableOfRow } from '../tables/entity-rows.ts'
import {
  type GroupCode,
  groupOf,
  logRangeOfGroup,
  logRowKey,
  parseLogRowKey,
  pendingRowKey,
} from '../tables/log-rows.ts'
import { isOf } from '../tables/rows.ts'
import { type TableId, tableIds } from '../tables/table.ts'
import type { Tablet } from '../tablets/tablet.ts'
import type { ApplyHistory } from './apply-history.ts'
import type {
  AppliedReport,
  LogRecordReport,
  LogReport,
  PendingRecordReport,
  PendingReport,
  ReleaseReport,
  RowReport,
  RowsReport,
  TableReport,
  VersionsReport,
} from './reports.ts'
import { cellInWords, changeInWords, committedAt, groupInWords } from './row-words.ts'
import { type TableRowsOptions, tableRows } from './table-rows.ts'
import { type LoggedImage, versionsOf } from './versions.ts'

export interface InspectorParts {
  readonly kv: RowKv
  /** Where several processes share the store: its rows, of which a group's row has the records of its log. */
  readonly sharedRows: RowStore | undefined
  /** Absent where several processes share the store: nothing waits there between commit and apply. */
  readonly log: CommitLog | undefined
  readonly history: ApplyHistory
  databaseByCode(code: string): LogDatabase
  /** The oldest moment that may be read, in microseconds. */
  oldestReadable(): bigint
  /** The tablets of a table from one row to another, left to right. */
  tabletsBetween(table: TableId, from: RowKey, through: RowKey): readonly Tablet[]
}

/** Which waiting records are reported. */
export interface PendingOptions extends PartitionScope {
  /** Maximum number of records; default: unlimited. */
  readonly limit?: number | undefined
  /** Maximum length of the words of a change, of which a record then shows {@link changesShown}; default: unlimited. */
  readonly words?: number | undefined
}

/** Changes of a record that are shown where words are limited. */
const changesShown = 10

export class Inspector {
  readonly #parts: InspectorParts

  constructor(parts: InspectorParts) {
    this.#parts = parts
  }

  /** Every row of an entity in all tables, also those that a held commit will write or delete, and its group's log. */
  async rows(key: Key, options: LogOptions = {}): Promise<RowsReport> {
    const { kv } = this.#parts
    const codes = keyCodes(key)
    const entityRow = entityRowKey(codes.partition, codes.path)
    const rules = this.#parts.databaseByCode(codes.partition)
    const group = groupOf(codes.partition, codes.path)
    const pending = this.#waiting(group).filter(({ changes }) => changes.some(({ path }) => path === codes.path))

    // The present rows of this entity: candidates are the rows of every state it has had since the last apply.
    const stored = await kv.get(entityRow)
    const cells = [stored, ...pending.flatMap(({ changes }) => imagesOf(changes, codes.path))]
    const candidates = new Set<RowKey>([entityRow])
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
    const rows: RowReport[] = []
    for (const row of candidates) {
      const cell = await kv.get(row)
      const next = planned.has(row) ? { value: planned.get(row) } : undefined
      const report = rowReport(row, cell, next)
      if (report !== undefined) rows.push(report)
    }
    rows.push(...(await this.#idRows(key)))
    const order = (table: string): number => [...tableIds, 'Pending'].indexOf(table as TableId)
    rows.sort((a, b) => order(a.table) - order(b.table) || (a.rowKey < b.rowKey ? -1 : 1))
    return { key: prettyPath(key.path), rows, log: await this.#logOf(group, options) }
  }

  /** The kept log records of the group that `key` belongs to. */
  log(key: Key, options: LogOptions = {}): Promise<LogReport> {
    const { partition, path } = keyCodes(key)
    return this.#logOf(groupOf(partition, path), options)
  }

  /** The versions of an entity that the kept log records tell of. @param limit - of them the newest; at least 1 */
  async versions(key: Key, limit: number = Number.POSITIVE_INFINITY): Promise<VersionsReport> {
    const images: LoggedImage[] = []
    for await (const image of this.#imagesOf(key)) {
      images.push(image)
      if (images.length >= limit) break
    }
    images.reverse()
    return { key: prettyPath(key.path), versions: versionsOf(images, this.#parts.oldestReadable()) }
  }

  /**
   * An entity as it is committed, applied or not; with `version` as it was then.
   *
   * @returns `undefined` when there is none, or was none
   * @throws NOT_FOUND for a version that no kept record tells of
   */
  async entity(key: Key, version?: bigint): Promise<EntityImage | undefined> {
    if (version === undefined) {
      const codes = keyCodes(key)
      const { log, kv } = this.#parts
      const row = entityRowKey(codes.partition, codes.path)
      const cell = await (log === undefined ? kv.get(row) : log.readCommitted(codes, row))
      return cell === undefined ? undefined : decodeImage(cell)
    }
    for await (const image of this.#imagesOf(key)) if (image.version === version) return image.image
    throw new DatastoreError(
      'NOT_FOUND',
      `the log of ${formatKey(key)} has no version ${version}; it keeps commits for a while`,
    )
  }

  /** Commits not yet wholly applied: group by group, the groups in the order in which they began to wait. */
  pending({ limit, words, ...scope }: PendingOptions = {}): PendingReport {
    const all = this.#parts.log?.pending.all() ?? []
    const inScope = all.filter(({ partition }) => isInScope(partitionOfCode(partition), scope))
    const shown = inScope.slice(0, limit)
    const rest = inScope.length - shown.length
    return {
      pending: shown.map((record) => pendingReport(record, words)),
      ...(rest > 0 ? { more: rest } : {}),
    }
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
    const { partition, path } = keyCodes(key)
    const group = groupOf(partition, path)
    const waiting = this.#waiting(group)
    const last = version ?? waiting.at(milestone === 'A' ? 0 : -1)?.version
    let released = 0
    while (log !== undefined) {
      const [record] = log.pending.of(group)
      if (record === undefined || last === undefined || record.version > last) break
      const upTo = record.version === last ? milestone : 'B'
      if (upTo === 'B' || record.milestone === 'committed') released++
      await log.applier.step(group, upTo, 'release')
      if (upTo === 'A') break
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
    if (database === undefined) {
      const waiting = log.pending.count
      await log.rollForwardAll('release')
      return waiting
    }
    const waiting = log.pending.groupsOf(database).reduce((sum, group) => sum + log.pending.of(group).length, 0)
    await log.applier.rollForwardDatabase(database, 'release')
    return waiting
  }

  /** Rows of one table in row key order, with the tablets that they lie in (table-rows.ts). */
  table(table: TableId, options: TableRowsOptions = {}): Promise<TableReport> {
    return tableRows(this.#parts, table, options)
  }

  async #idRows(key: Key): Promise<RowReport[]> {
    if (lastElement(key).id === undefined) return []
    const { projectId, databaseId } = key.partition
    const rows: RowReport[] = []
    for (const row of [scatteredRowKey(projectId, databaseId), sequentialRowKey(key)]) {
      const report = rowReport(row, await this.#parts.kv.get(row), undefined)
      if (report !== undefined) rows.push(report)
    }
    return rows
  }

  /**
   * The states of an entity, newest first: those that the kept records of its group made, waiting ones too, and the one before the
   * oldest of them.
   */
  async *#imagesOf(key: Key): AsyncGenerator<LoggedImage> {
    const { partition, path } = keyCodes(key)
    const group = groupOf(partition, path)
    const states = this.#waitingStates(group)
    let earlier: Uint8Array | undefined
    let isLogged = false
    for await (const { version, changes } of this.#records(group)) {
      const change = changes.find((one) => one.path === path)
      if (change === undefined) continue
      const image = change.after === undefined ? undefined : decodeImage(change.after)
      yield { version, image, state: states.get(version) ?? 'applied' }
      isLogged = true
      earlier = change.before
    }
    const first = isLogged ? earlier : await this.#parts.kv.get(entityRowKey(partition, path))
    if (first === undefined) return
    const image = decodeImage(first)
    yield { version: image.version, image, state: 'applied' }
  }

  #waitingStates(group: GroupCode): ReadonlyMap<bigint, PendingRecord['milestone']> {
    return new Map(this.#waiting(group).map(({ version, milestone }) => [version, milestone]))
  }

  #waiting(group: GroupCode): readonly PendingRecord[] {
    return this.#parts.log?.pending.of(group) ?? []
  }

  async #logOf(group: GroupCode, { records: recordsMax = Number.POSITIVE_INFINITY }: LogOptions): Promise<LogReport> {
    const states = this.#waitingStates(group)
    const records: LogRecordReport[] = []
    let hasMore = false
    for await (const record of this.#records(group)) {
      hasMore = records.length >= recordsMax
      if (hasMore) break
      records.push(recordReport({ group, ...record }, states.get(record.version) ?? 'applied'))
    }
    records.reverse()
    return { group: groupInWords(group), records, ...(hasMore ? { hasMore } : {}) }
  }

  /** The kept records of a group, newest first. */
  #records(group: GroupCode): AsyncGenerator<StoredRecord> {
    const { sharedRows } = this.#parts
    return sharedRows === undefined ? this.#logRows(group) : logCells(sharedRows, group)
  }

  async *#logRows(group: GroupCode): AsyncGenerator<StoredRecord> {
    const scan = this.#parts.kv.scan(logRangeOfGroup(group), { reverse: true })
    try {
      for (;;) {
        const rows = await scan.next(100)
        if (rows.length === 0) return
        for (const { key, value } of rows) {
          yield { ...parseLogRowKey(key), changes: decodeLogRecord(value).changes, logRow: key }
        }
      }
    } finally {
      scan.close()
    }
  }
}

/** The records of a group that are cells of its row (shared/group-row.ts), newest first. */
async function* logCells(rows: RowStore, group: GroupCode): AsyncGenerator<StoredRecord> {
  const row = entityRowOf(group)
  let until: bigint | undefined
  for (;;) {
    const found = await rows.readRows([row], [{ family: 'l', newest: 100, ...(until === undefined ? {} : { until }) }])
    const cells = found.get(row)?.cells.l ?? []
    if (cells.length === 0) return
    for (const { at, value } of cells) {
      yield { ...parseLogRowKey(logRowKey(group, at)), changes: decodeLogRecord(value).changes, logRow: row }
      until = at
    }
  }
}

/** The part of a group's log that is told. */
export interface LogOptions {
  /** The newest so many records; absent = all. */
  readonly records?: number | undefined
}

interface StoredRecord extends Pick<LogRecord, 'changes'>, Pick<PendingRecord, 'version' | 'partition' | 'logRow'> {}

function imagesOf(changes: readonly EntityChange[], path: string): (Uint8Array | undefined)[] {
  return changes.filter((change) => change.path === path).flatMap(({ before, after }) => [before, after])
}

/** A row as it is now and as it will be; `undefined` when there is none and none is coming. */
function rowReport(
  row: RowKey,
  cell: Uint8Array | undefined,
  next: { readonly value: Uint8Array | undefined } | undefined,
): RowReport | undefined {
  const shown = cell ?? next?.value
  if (shown === undefined) return undefined
  let state: RowReport['state'] = 'stored'
  if (next !== undefined) {
    if (cell === undefined) state = 'to be written'
    else state = next.value === undefined ? 'to be deleted' : 'to be changed'
  }
  const table = isOf('Pending', row) ? 'Pending' : tableOfRow(row)
  return { table, row: prettyRowKey(row, shown), rowKey: hexOf(row), value: cellInWords(row, shown), state }
}

function pendingReport(record: PendingRecord, words: number | undefined): PendingRecordReport {
  const { projectId, databaseId, namespaceId } = partitionOfCode(record.partition)
  const changes = words === undefined ? record.changes : record.changes.slice(0, changesShown)
  const rest = record.changes.length - changes.length
  return {
    ...recordReport({ ...record, changes }, record.milestone, words),
    project: projectId,
    database: databaseId,
    namespace: namespaceId,
    held: record.held === true,
    ...(rest > 0 ? { moreChanges: rest } : {}),
  }
}

function recordReport(
  record: Pick<PendingRecord, 'group' | 'partition' | 'version' | 'logRow'> & {
    readonly changes: readonly EntityChange[]
  },
  state: LogRecordReport['state'],
  words?: number,
): LogRecordReport {
  return {
    group: groupInWords(record.group),
    row: prettyRowKey(record.logRow),
    rowKey: hexOf(record.logRow),
    version: record.version.toString(),
    committedAt: committedAt(record.version),
    state,
    changes: record.changes.map((change) => changeInWords(change, words)),
  }
}
