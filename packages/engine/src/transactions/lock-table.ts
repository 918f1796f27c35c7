/**
 * The locks of open pessimistic transactions: which of them have read a row.
 *
 *   rows    Entities row ToDo:1 → transactions 4 and 7, which have read it
 *   spans   key range that was scanned → the transactions that scanned exactly this range
 *   waits   row → the transactions that wait until no other one holds it
 *
 * An ended transaction gives back a few locks at once, but many in slices; until then they count as held. A transaction that
 * waits for a row is woken when the row is free, a few transactions in a turn.
 *
 * LT1  The cost of a question about a row does not grow with the number of transactions.   locks.test.ts
 */
import { type Scheduler, steadyMicros } from '../clock.ts'
import { requestContext } from '../context.ts'
import { getOrInsert } from '../get-or-insert.ts'
import type { Footprint } from '../log/footprint.ts'
import { forEachInSlices, sliceWorkMax } from '../slices.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { rangeOfRow } from '../tables/rows.ts'
import type { ReadSet } from './read-set.ts'
import { RowIndex } from './row-index.ts'
import { SpanTree } from './span-tree.ts'
import type { Transaction, Waits } from './transaction.ts'

/** The error that ends the turn of a commit because a transaction has locked one of its rows; the commit waits and is repeated. */
export class Blocked extends Error {
  readonly row: RowKey
  readonly footprint: Footprint

  constructor(row: RowKey, footprint: Footprint) {
    super('blocked')
    this.row = row
    this.footprint = footprint
  }
}

/** A woken transaction reads or commits again; that is as much work as reading some hundred rows. */
const workOfWake = 256

export class LockTable {
  readonly #scheduler: Scheduler
  readonly #rows = new RowIndex<Transaction | Set<Transaction>>()
  readonly #spans = new SpanTree<Set<Transaction>>()
  readonly #waits = new RowIndex<Waits>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  get hasSpans(): boolean {
    return this.#spans.size > 0
  }

  /** Locks the rows that an open transaction has just read. It may hold some of them already. */
  take(transaction: Transaction, reads: ReadSet): void {
    for (const row of reads.rows()) {
      const held = this.#rows.get(row)
      if (held === undefined) this.#rows.set(row, transaction)
      else if (held instanceof Set) held.add(transaction)
      else if (held !== transaction) this.#rows.set(row, new Set([held, transaction]))
    }
    for (const span of reads.spans) {
      const held = this.#spans.get(span)
      if (held === undefined) this.#spans.add(span, new Set([transaction]))
      else held.add(transaction)
    }
  }

  release(transaction: Transaction): void {
    const { reads } = transaction
    if (reads.isEmpty) return
    if (reads.size > sliceWorkMax) {
      void this.#releaseInSlices(transaction, reads.removeAll())
      return
    }
    for (const row of reads.rows()) this.#releaseRow(transaction, row)
    for (const span of reads.spans) this.#releaseSpan(transaction, span)
    this.#wakeAt(reads)
  }

  async #releaseInSlices(transaction: Transaction, reads: ReadSet): Promise<void> {
    const context = requestContext({ clock: this.#scheduler })
    await forEachInSlices(context, reads.rows(), 1, (row) => this.#releaseRow(transaction, row))
    await forEachInSlices(context, reads.spans, 1, (span) => this.#releaseSpan(transaction, span))
    this.#wakeAt(reads)
  }

  #releaseRow(transaction: Transaction, row: RowKey): void {
    const held = this.#rows.get(row)
    if (held === transaction) this.#rows.delete(row)
    else if (held instanceof Set && held.delete(transaction) && held.size === 0) this.#rows.delete(row)
  }

  #releaseSpan(transaction: Transaction, span: KeyRange): void {
    const held = this.#spans.get(span)
    if (held?.delete(transaction) === true && held.size === 0) this.#spans.delete(span)
  }

  /** The first row of a commit that another transaction holds. */
  blockedAt(self: Transaction | undefined, footprint: Footprint): RowKey | undefined {
    if (this.#rows.size === 0 && !this.hasSpans) return undefined
    for (const row of footprint.entityRows) if (this.isHeld(row, self)) return row
    if (!this.hasSpans) return undefined
    const rows = footprint.indexRows((range) => this.#overlapsSpan(range, self))
    for (const row of rows) if (this.#isSpanned(row, self)) return row
    return undefined
  }

  isHeld(row: RowKey, self: Transaction | undefined): boolean {
    const held = this.#rows.get(row)
    if (held !== undefined && isOther(held, self)) return true
    return this.#isSpanned(row, self)
  }

  #isSpanned(row: RowKey, self: Transaction | undefined): boolean {
    return this.hasSpans && this.#overlapsSpan(rangeOfRow(row), self)
  }

  #overlapsSpan(range: KeyRange, self: Transaction | undefined): boolean {
    return this.#spans.some(range, (held) => isOther(held, self))
  }

  /** At most `max` transactions other than `self` that hold a row. */
  holders(row: RowKey, self: Transaction | undefined, max: number): readonly Transaction[] {
    const holders = new Set<Transaction>()
    const add = (held: Iterable<Transaction>): boolean => {
      for (const one of held) {
        if (holders.size === max) return true
        if (one !== self) holders.add(one)
      }
      return false
    }
    const held = this.#rows.get(row)
    if (held !== undefined) add(held instanceof Set ? held : [held])
    this.#spans.some(rangeOfRow(row), add)
    return [...holders]
  }

  /** The waits for a row. The caller calls {@link forget} after its wait. */
  waitsAt(row: RowKey): Waits {
    return getOrInsert(this.#waits, row, () => ({ wakes: new Map(), releasedAt: 0 }))
  }

  forget(row: RowKey, waits: Waits): void {
    if (waits.wakes.size === 0 && this.#waits.get(row) === waits) this.#waits.delete(row)
  }

  /** The transactions that wait for a row in `reads`, without those of rows in `seen`, to which the rows are added. */
  *waitersOn(reads: ReadSet, seen: Set<object>): Generator<Transaction> {
    for (const { value } of this.#waits.of(reads)) {
      if (seen.size < seen.add(value.wakes).size) yield* value.wakes.keys()
    }
  }

  /** Wakes the transactions whose row is free now. */
  #wakeAt(released: ReadSet): void {
    const now = steadyMicros(this.#scheduler)
    for (const { key: row, value: waits } of this.#waits.of(released)) {
      waits.releasedAt = now
      const [first, second] = this.holders(row, undefined, 2)
      if (first === undefined) wakeInSlices(this.#scheduler, waits)
      else if (second === undefined) for (const wake of [...(waits.wakes.get(first) ?? [])]) wake()
    }
  }
}

export function addWait({ wakes }: Waits, waiter: Transaction, wake: () => void): void {
  getOrInsert(wakes, waiter, () => new Set()).add(wake)
}

export function removeWait({ wakes }: Waits, waiter: Transaction, wake: () => void): void {
  const own = wakes.get(waiter)
  if (own?.delete(wake) === true && own.size === 0) wakes.delete(waiter)
}

function isOther(held: Transaction | Set<Transaction>, self: Transaction | undefined): boolean {
  if (!(held instanceof Set)) return held !== self
  return held.size > 1 || (held.size === 1 && (self === undefined || !held.has(self)))
}

/** Wakes all transactions of a wait, a few in a turn. */
export function wakeInSlices(clock: Scheduler, { wakes }: Waits): void {
  if (wakes.size === 0) return
  const all: (() => void)[] = []
  for (const own of wakes.values()) all.push(...own)
  void forEachInSlices(requestContext({ clock }), all, workOfWake, (wake) => wake())
}
