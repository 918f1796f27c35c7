/**
 * Rows over which transactions met that had read them and wanted to write them: for a while they are locked by one
 * transaction at a time.
 *
 *   transactions 1, 2 … 16 read X        all hold a lock on it, and every one but the last to commit is a deadlock's victim
 *   X is contended             T17 reads X and holds it alone; T18 waits for T17's end before it reads, T19 for T18's …
 *
 * C1  A row is contended for a second after a writer that has read it met others that have, or a reader waited for its turn.
 * C2  Waiting here is a courtesy: a reader that has waited for the lock timeout shares the lock after all.
 *
 * C3  Who waits for a turn is told to the tablets, as a wait of the groups whose commits met there.
 *
 * Known: a lock for update instead of a shared one, of which the API cannot say that it is wanted. Ours: to know it from
 * what just happened. Measured, 16 clients adding to one counter through retries: 8 aborts an addition without this.
 */
import type { RequestContext } from '../context.ts'
import { prettyRowKey } from '../encoding/pretty.ts'
import { DatastoreError } from '../errors.ts'
import type { RowKey } from '../storage/kv.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { Contention } from '../tablets/group-load.ts'
import { waitForRelease } from './deadlock-detection.ts'
import type { ReadSet } from './read-set.ts'
import type { Transaction } from './transaction.ts'

const contendedMicros = 1_000_000n

/** Above this number of rows expired ones are removed. */
const rowsMax = 64

interface Contended {
  /** Microseconds. */
  until: bigint
  /** Groups of the commit that last met others here. */
  groups: readonly GroupCode[]
  /** Open transactions that have asked for the row: the holder, and who waits. */
  readonly line: Set<Transaction>
  /** The last in line. The next waits for this one alone, so that an end wakes one waiter and not all. */
  last: Transaction | undefined
}

export class ContendedRows {
  readonly #rows = new Map<RowKey, Contended>()
  readonly #contention: Contention | undefined

  constructor(contention?: Contention) {
    this.#contention = contention
  }

  /** A writer, which changes `groups`, must wait for others that have read `row`. */
  met({ clock }: RequestContext, writer: Transaction, row: RowKey, groups: readonly GroupCode[]): void {
    if (!writer.reads.has(row)) return
    const now = clock.nowMicros()
    const known = this.#rows.get(row)
    if (known !== undefined) {
      known.until = now + contendedMicros
      known.groups = groups
    } else {
      if (this.#rows.size >= rowsMax) this.#sweep(now)
      this.#rows.set(row, { until: now + contendedMicros, groups, line: new Set(), last: undefined })
    }
  }

  /**
   * To be asked when a transaction is about to lock `reads`.
   *
   * @param holdersOf - who holds locks on a row, the reader aside
   * @returns a promise when it has to wait, and then to read and ask again; else it may lock them now
   */
  turn(
    context: RequestContext,
    reader: Transaction,
    reads: ReadSet,
    timeoutMs: number,
    holdersOf: (row: RowKey) => readonly Transaction[],
  ): Promise<void> | undefined {
    if (this.#rows.size === 0 || reader.state !== 'active') return undefined
    const row = reads.firstHit(this.#rows.keys())
    const contended = row === undefined ? undefined : this.#rows.get(row)
    if (row === undefined || contended === undefined || reader.reads.has(row)) return undefined
    const now = context.clock.nowMicros()
    if (contended.until < now) {
      this.#rows.delete(row)
      return this.turn(context, reader, reads, timeoutMs, holdersOf)
    }
    const holders = this.#ahead(contended, reader) ?? holdersOf(row)
    if (!contended.line.has(reader)) {
      contended.line.add(reader)
      contended.last = reader
      reader.atEnd(() => contended.line.delete(reader))
    }
    if (holders.length === 0) return undefined
    contended.until = now + contendedMicros
    if (!context.isUncounted) this.#contention?.waited(contended.groups)
    return waitForRelease(context, { waiter: reader, holders, what: prettyRowKey(row), timeoutMs }).catch((error) => {
      if (!(error instanceof DatastoreError) || error.code !== 'ABORTED' || reader.state !== 'active') throw error
      if (this.#rows.get(row) === contended) this.#rows.delete(row)
    })
  }

  /** The transaction that a new reader waits for; `undefined` = none, or the reader has waited already. */
  #ahead({ line, last }: Contended, reader: Transaction): readonly Transaction[] | undefined {
    return last !== undefined && line.has(last) && !line.has(reader) ? [last] : undefined
  }

  #sweep(now: bigint): void {
    for (const [row, { until }] of this.#rows) if (until < now) this.#rows.delete(row)
  }
}
