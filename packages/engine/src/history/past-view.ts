/**
 * The tables as they were at a past moment: the store now, with the differences of all newer records undone.
 *
 *   scan of a table      a   b       d   e        the store now (or a snapshot)
 *   undone rows              b'  c       e×       what newer records had changed, as it was before them
 *   the past             a   b'  c   d
 *
 * H1  A view at T gives what a read at T gave: every record with commitVersion <= T counts, none after it.
 *                                                                          test/property/past-view.test.ts
 * H2  A moment is readable while all records after it are kept; older ones are refused, never guessed.
 *
 * Operators above do not know that they read the past. Cost: the records after T, once for each view; their index rows are
 * made for a view that reads an index, which takes three times as long (measured: 5 and 15 µs a record).
 * Ours: records hold images before, so history needs no rows of its own.
 */

import type { RequestContext } from '../context.ts'
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import { decodeLogRecord, type EntityChange } from '../log/log-record.ts'
import type { PendingRecord } from '../log/pending.ts'
import { lowerBound } from '../lower-bound.ts'
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { KeyRange, KvReader, KvRow, RowKey } from '../storage/kv.ts'
import { entityRowKey } from '../tables/entities.ts'
import { EntityRows, type IndexRules, RowProducer } from '../tables/entity-rows.ts'
import { parseLogRowKey } from '../tables/log-rows.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

/** Rows as they were: `undefined` = there was none. */
export type UndoneRows = ReadonlyMap<RowKey, Uint8Array | undefined>

/** Rows to lay over a table; rows of other tables may be among them. */
export type UndoneOf = (table: TableId) => UndoneRows

/** The change of one log record to an entity. */
interface UndoneChange {
  readonly change: EntityChange
  readonly partition: string
  readonly rules: IndexRules
}

/**
 * The rows to lay over `reader` to see it as it was before the records in `logRows`.
 *
 * @param logRows - of all records newer than the moment, newest first; those that `reader` does not have are passed over
 * @throws FAILED_PRECONDITION (H2) when a record is gone
 */
export async function undoneRows(
  reader: KvReader,
  logRows: readonly RowKey[],
  rulesOf: (database: string) => IndexRules,
): Promise<UndoneOf> {
  const entities = new Map<RowKey, Uint8Array | undefined>()
  const undone: UndoneChange[] = []
  const rulesByDatabase = new Map<string, IndexRules>()
  for (const logRow of logRows) {
    const value = await reader.get(logRow)
    if (value === undefined) continue
    const { partition, database } = parseLogRowKey(logRow)
    let rules = rulesByDatabase.get(database)
    if (rules === undefined) {
      // Those of now: what is read later must not meet indexes that the view does not have.
      const { indexes, indexOptions } = rulesOf(database)
      rules = { indexes, indexOptions }
      rulesByDatabase.set(database, rules)
    }
    for (const change of decodeLogRecord(value).changes) {
      entities.set(entityRowKey(partition, change.path), change.before)
      undone.push({ change, partition, rules })
    }
  }
  let indexRows: UndoneRows | undefined
  return (table) => {
    if (table === 'Entities') return entities
    indexRows ??= undoneIndexRows(undone)
    return indexRows
  }
}

/** @param undone - newest first */
function undoneIndexRows(undone: readonly UndoneChange[]): UndoneRows {
  const rows = new Map<RowKey, Uint8Array | undefined>()
  const producer = new RowProducer({ write: (key, value) => rows.set(key, value) })
  for (const { change, partition, rules } of undone) {
    const { path, before, after } = change
    // The way back is the change from the image after to the image before.
    const codes = keyCodesOfPath(partition, path)
    producer.indexRows(new EntityRows({ codes, before: after, after: before }, rules))
  }
  return rows
}

/**
 * The rows to lay over a store to see it as if these records were applied: the other way round.
 *
 * @param records - those of a group in their order
 */
export function aheadRows(records: readonly Pick<PendingRecord, 'milestone' | 'changes'>[]): UndoneOf {
  const rows = new Map<RowKey, Uint8Array | undefined>()
  const producer = new RowProducer({ write: (key, value) => rows.set(key, value) })
  for (const { milestone, changes } of records) {
    for (const change of changes) {
      if (milestone === 'committed') producer.entity(change)
      producer.indexRows(change)
    }
  }
  return () => rows
}

/** Refuses a moment that has not come. Times are microseconds. */
export function refuseFuture(readTime: bigint, now: bigint): void {
  if (readTime <= now) return
  throw invalidArgument(`The requested 'read_time' cannot be in the future. It is now ${instant(now)}`)
}

/** Refuses a moment of which records are gone (H2). Times are microseconds. */
export function refuseForgotten(readTime: bigint, oldestReadable: bigint): void {
  if (readTime >= oldestReadable) return
  throw failedPrecondition(
    `The requested 'read_time' is too old. The oldest readable moment is ${instant(oldestReadable)}`,
  )
}

function instant(micros: bigint): string {
  return new Date(Number(micros / 1000n)).toISOString()
}

export class PastView implements TableView {
  readonly #now: TableView
  readonly #undoneOf: UndoneOf

  constructor(now: TableView, undoneOf: UndoneOf) {
    this.#now = now
    this.#undoneOf = undoneOf
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    const undone = this.#undoneOf(table)
    return undone.has(row) ? undone.get(row) : this.#now.get(context, table, row)
  }

  scan(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    options: { readonly reverse?: boolean; readonly expect?: number } = {},
  ): RowScan {
    const undone = this.#undoneOf(table)
    const rows: RowKey[] = []
    for (const row of undone.keys()) if (range.start <= row && row < range.end) rows.push(row)
    const scan = this.#now.scan(context, table, range, options)
    if (rows.length === 0) return scan
    rows.sort()
    if (options.reverse) rows.reverse()
    return new PastScan(scan, rows, undone, options.reverse === true)
  }
}

/** Merges the rows of now with the undone ones; where both have a row, the undone one counts. */
class PastScan implements RowScan {
  readonly #scan: RowScan
  readonly #rows: readonly RowKey[]
  readonly #undone: UndoneRows
  readonly #reverse: boolean
  /** The next undone row. */
  #at = 0
  /** Rows of now that were read and not given yet. */
  #ahead: readonly KvRow[] = []
  #exhausted = false

  constructor(scan: RowScan, rows: readonly RowKey[], undone: UndoneRows, reverse: boolean) {
    this.#scan = scan
    this.#rows = rows
    this.#undone = undone
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly KvRow[]> {
    return runSteps(this.#next(count))
  }

  *#next(count: number): Steps<readonly KvRow[]> {
    const given: KvRow[] = []
    for (;;) {
      this.#take(given, count)
      if (given.length > 0 || (this.#exhausted && this.#ahead.length === 0 && this.#at === this.#rows.length)) {
        return given
      }
      this.#load(yield* waitFor(this.#scan.next(count)))
    }
  }

  seek(key: RowKey): void {
    this.#ahead = []
    this.#exhausted = false
    this.#at = lowerBound(this.#rows.length, (place) => this.#isBefore(this.#rows[place] as RowKey, key))
    this.#scan.seek(key)
  }

  close(): void {
    this.#scan.close()
  }

  #load(rows: readonly KvRow[]): void {
    this.#ahead = rows
    this.#exhausted = rows.length === 0
  }

  #isBefore(a: RowKey, b: RowKey): boolean {
    return this.#reverse ? a > b : a < b
  }

  /** Gives rows as far as it is known which comes next. */
  #take(given: KvRow[], count: number): void {
    let taken = 0
    while (given.length < count) {
      const now = this.#ahead[taken]
      const past = this.#rows[this.#at]
      if (now === undefined && !this.#exhausted) break
      if (past !== undefined && (now === undefined || !this.#isBefore(now.key, past))) {
        if (now?.key === past) taken++
        this.#at++
        const value = this.#undone.get(past)
        if (value !== undefined) given.push({ key: past, value })
      } else if (now !== undefined) {
        given.push(now)
        taken++
      } else break
    }
    if (taken > 0) this.#ahead = this.#ahead.slice(taken)
  }
}
