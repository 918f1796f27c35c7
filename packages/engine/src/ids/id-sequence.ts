/**
 * One counter of ids: its row in IdSequences, and the block of numbers that this process holds.
 *
 *   row       next number not yet given              given, lost or in an open block │ free
 *   in hand   runs of numbers for this process                   ├── run ──┤     ├ run ┤row
 *
 * A conditional write that moves the row forward takes a block, and numbers are given from memory. With the row at 17 and a
 * block of 16 the row moves to 33, and 17 … 32 are in hand. A crash forfeits the rest of the block. A clean close moves the
 * row back over the rest, unless another allocator has moved the row.
 *
 *   blocks   16, 32, 64 … 1,024 numbers: each refill doubles, so that a small store does not lose a thousand.
 *            Below a quarter of a grown block the next one is fetched in advance.
 *   exact    firstSize = maxSize = 0: only as many as the waiting callers need, nothing stays in hand. For a store
 *            with several allocators, so that each sees the others' reservations.
 *
 * The row is c only if no number from c on was ever given or taken. So a conditional write that finds c may take numbers from
 * c on, and a close may lower the row to the start of a run that ends at c.
 *
 * Counters are below 2^53, so they are plain numbers. Calls are answered in order: at once if enough is in hand, else one
 * after the other. Waiting callers share one refill.
 *
 * After a crash the next number is greater than any given one. test/property/ids.*.test.ts
 *
 * Known: one row per counter, moved by compare-and-set; SDK stubs take blocks of 1,000. Ours: growth, returned blocks, exact
 * mode.
 */
import type { RequestContext } from '../context.ts'
import { DatastoreError } from '../errors.ts'
import { invariant } from '../invariant.ts'
import { andThen, isPromise, type MaybePromise, runSteps, type Steps, waitFor, whenFails } from '../maybe-promise.ts'
import type { RowKey, RowKv } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import { decodeCounter, encodeCounter } from '../tables/id-sequences.ts'
import { counterMax, type IdSpace } from './scatter.ts'

/** How many numbers a refill takes. */
export interface BlockPolicy {
  readonly firstSize: number
  readonly maxSize: number
  /** From this block size on, refills run in advance. */
  readonly aheadSizeMin: number
}

export const growingBlocks: BlockPolicy = { firstSize: 16, maxSize: 1024, aheadSizeMin: 64 }
export const exactBlocks: BlockPolicy = { firstSize: 0, maxSize: 0, aheadSizeMin: 1 }

/** Each failed conditional write is another allocator's success, so this many in a row mean a bug. */
const writeTriesMax = 1000

/** Numbers from `next` (inclusive) to `end` (exclusive). */
interface Run {
  next: number
  end: number
}

/** A waiting call. `count`: the numbers that take() needs, 0 for other calls. */
interface Job {
  readonly count: number
  run(): void
}

export class IdSequence {
  readonly #kv: RowKv
  readonly #rowKey: RowKey
  readonly #space: IdSpace
  readonly #last: number
  readonly #blocks: BlockPolicy
  #blockSize: number
  readonly #counts: boolean
  /**
   * Numbers in hand, ascending and disjoint; none is empty. There are several only if another allocator took a block in
   * between.
   */
  #runs: Run[] = []
  #inHand = 0
  /** The row as last read or written, and its bytes; `undefined` = unknown. */
  #rowNext: number | undefined
  #row: Uint8Array | undefined
  /** `ahead`: a refill runs in the background. */
  #busy: 'no' | 'ahead' | 'job' = 'no'
  #queue: Job[] = []

  constructor(options: {
    kv: RowKv
    rowKey: RowKey
    space: IdSpace
    blocks?: BlockPolicy
    switchedOff?: SwitchedOff | undefined
  }) {
    this.#kv = options.kv
    this.#rowKey = options.rowKey
    this.#space = options.space
    this.#last = counterMax[options.space]
    this.#blocks = options.blocks ?? growingBlocks
    this.#blockSize = this.#blocks.firstSize
    this.#counts = !options.switchedOff?.has('id-counter')
  }

  get space(): IdSpace {
    return this.#space
  }

  get isIdle(): boolean {
    return this.#inHand === 0 && this.#busy === 'no' && this.#queue.length === 0
  }

  /** The next `count` numbers, ascending. RESOURCE_EXHAUSTED if the space has fewer left; then none is taken. */
  take(context: RequestContext, count: number): MaybePromise<number[]> {
    if (this.#inHand >= count && this.#busy !== 'job' && this.#queue.length === 0) {
      const numbers = this.#give(count)
      this.#refillAhead(context)
      return numbers
    }
    return this.#submit(count, () => {
      if (this.#inHand >= count) return this.#give(count)
      return andThen(this.#refill(context, count - this.#inHand), () => this.#give(count))
    })
  }

  /**
   * `count` consecutive numbers; returns the first. Smaller numbers in hand are lost, so that the numbers given only grow.
   * RESOURCE_EXHAUSTED if the space has no such run.
   */
  takeRun(context: RequestContext, count: number): MaybePromise<number> {
    return this.#submit(0, () => {
      const run = this.#runs.find(({ next, end }) => end - next >= count)
      if (run !== undefined) {
        const first = run.next
        this.#drop(first + count - 1)
        return first
      }
      const moved = this.#moveRow(context, (rowNext) => {
        const first = this.#openFrom(rowNext)
        if (this.#last - first + 1 < count) throw this.#exhausted(count, first)
        return first + count
      })
      return andThen(moved, (rowNext) => {
        const first = this.#openFrom(rowNext)
        this.#drop(first + count - 1)
        return first
      })
    })
  }

  /**
   * Moves past `max`, and takes the free numbers up to it.
   *
   * @returns the first number that had never been given, and the last number taken, which is smaller if none was
   */
  takeUpTo(context: RequestContext, max: number): MaybePromise<{ readonly first: number; readonly last: number }> {
    return this.#submit(0, () => {
      const lastRun = this.#runs[this.#runs.length - 1]
      if (lastRun !== undefined && max < lastRun.end) return this.#cutUpTo(max, lastRun.next)
      return andThen(this.#moveRowPast(context, max), (rowNext) => this.#cutUpTo(max, this.#openFrom(rowNext)))
    })
  }

  /** Moves past `number`: it and all before it are not given any more. No effect if it was given or passed. */
  skipPast(context: RequestContext, number: number): MaybePromise<void> {
    return this.#submit(0, () => {
      const lastRun = this.#runs[this.#runs.length - 1]
      this.#drop(number)
      // The open block is below the row, wherever other allocators moved it.
      if (lastRun !== undefined && number < lastRun.end) return
      return andThen(this.#moveRowPast(context, number), () => undefined)
    })
  }

  /** The number that take() would give now, without taking it. */
  peek(context: RequestContext): MaybePromise<number> {
    const next = (): MaybePromise<number> => {
      const run = this.#runs[0]
      return run !== undefined ? run.next : andThen(this.#readRow(context), numberOf)
    }
    return this.#inHand > 0 ? next() : this.#submit(0, next)
  }

  /**
   * Returns the numbers in hand: the row moves back if no one else changed it. Never fails: numbers that cannot be returned
   * are lost, as after a crash. The sequence can be used again.
   */
  release(context: RequestContext): MaybePromise<void> {
    return this.#submit(0, () => {
      const lastRun = this.#runs[this.#runs.length - 1]
      const rowNext = this.#rowNext
      this.#runs = []
      this.#inHand = 0
      if (lastRun === undefined || lastRun.end !== rowNext) return
      // After an error the numbers are lost, as the docstring says.
      return whenFails(() => andThen(this.#writeRow(context, lastRun.next), ignore), ignore)
    })
  }

  #give(count: number): number[] {
    const numbers: number[] = []
    if (!this.#counts) return Array.from({ length: count }, (_, i) => (this.#runs[0]?.next ?? 1) + i)
    while (numbers.length < count) {
      const run = this.#runs[0]
      invariant(run !== undefined, 'allocator/I4: numbers are given only from those in hand')
      const end = Math.min(run.end, run.next + count - numbers.length)
      for (let number = run.next; number < end; number++) numbers.push(number)
      this.#removeFrom(run, end)
    }
    return numbers
  }

  /** Removes the numbers below `next` from a run. */
  #removeFrom(run: Run, next: number): void {
    this.#inHand -= next - run.next
    run.next = next
    if (run.next === run.end) this.#runs.splice(this.#runs.indexOf(run), 1)
  }

  #drop(last: number): void {
    for (const run of [...this.#runs]) {
      if (run.next <= last) this.#removeFrom(run, Math.min(run.end, last + 1))
    }
  }

  #cutUpTo(max: number, first: number): { first: number; last: number } {
    this.#drop(max)
    return { first, last: Math.max(max, first - 1) }
  }

  /** The first number from which on all are in hand or free, if the row is `rowNext`. */
  #openFrom(rowNext: number): number {
    const lastRun = this.#runs[this.#runs.length - 1]
    return lastRun?.end === rowNext ? lastRun.next : rowNext
  }

  /** Takes a block of at least `needed` numbers, plus the numbers that waiting callers need. */
  #refill(context: RequestContext, needed: number): MaybePromise<void> {
    let wanted = needed
    for (const { count } of this.#queue) wanted += count
    let end = 0
    const moved = this.#moveRow(context, (rowNext) => {
      const free = this.#last - rowNext + 1
      if (free < needed) throw this.#exhausted(needed, rowNext)
      end = rowNext + Math.min(free, Math.max(wanted, this.#blockSize))
      return end
    })
    return andThen(moved, (rowNext) => {
      if (end === rowNext) return
      this.#blockSize = Math.min(this.#blocks.maxSize, this.#blockSize * 2)
      this.#inHand += end - rowNext
      const lastRun = this.#runs[this.#runs.length - 1]
      if (lastRun?.end === rowNext) lastRun.end = end
      else this.#runs.push({ next: rowNext, end })
    })
  }

  /** Starts a refill in the background if a grown block runs low. */
  #refillAhead(context: RequestContext): void {
    if (this.#busy !== 'no' || this.#blockSize < this.#blocks.aheadSizeMin || this.#inHand * 4 > this.#blockSize) return
    // The caller that needs the numbers meets the same error, and reports it.
    const done = whenFails(() => this.#refill(context, 0), ignore)
    if (!isPromise(done)) return
    this.#busy = 'ahead'
    void done.then(() => this.#finish())
  }

  #exhausted(count: number, next: number): DatastoreError {
    // Another allocator may return some: read the row next time.
    this.#rowNext = undefined
    return new DatastoreError(
      'RESOURCE_EXHAUSTED',
      `${count} ${this.#space} ids were asked for, but the counter stands at ${next} of ${this.#last}: the id space is ` +
        'used up, or a reservation moved the counter to its end. Use names, or another parent, kind or database',
      { retry: 'never' },
    )
  }

  /** Moves the row from its value to `target(value)` by conditional writes; returns the old value. */
  #moveRow(context: RequestContext, target: (rowNext: number) => number): MaybePromise<number> {
    return runSteps(this.#movingRow(context, target))
  }

  *#movingRow(context: RequestContext, target: (rowNext: number) => number): Steps<number> {
    for (let i = 0; i < writeTriesMax; i++) {
      if (this.#rowNext === undefined) this.#know(yield* waitFor(this.#readRow(context)))
      const from = this.#rowNext as number
      const to = target(from)
      if (to === from || (yield* waitFor(this.#writeRow(context, to)))) return from
    }
    throw new DatastoreError('ABORTED', `the id counter was moved by others ${writeTriesMax} times in a row; try again`)
  }

  /** Moves the row past `number` unless it is already; returns the old value. */
  #moveRowPast(context: RequestContext, number: number): MaybePromise<number> {
    // Without a write nothing would show that others have moved the row, so read it.
    if (this.#rowNext !== undefined && this.#rowNext > number) this.#rowNext = undefined
    return this.#moveRow(context, (rowNext) => Math.max(rowNext, number + 1))
  }

  /**
   * Writes the row if it still has the known value. Until the answer is there the value counts as unknown, because the write
   * may fail.
   */
  #writeRow(context: RequestContext, next: number): MaybePromise<boolean> {
    const expected = this.#row
    const row = encodeCounter(BigInt(next))
    this.#rowNext = undefined
    return andThen(this.#kv.mutateIf({ key: this.#rowKey, value: row }, expected), (ok) => {
      const bytes = this.#rowKey.length + row.length
      context.ledger.charge('IdSequences', ok ? 'put' : 'get', this.#rowKey, 1, bytes)
      if (ok) {
        this.#rowNext = next
        this.#row = row
      }
      return ok
    })
  }

  #readRow(context: RequestContext): MaybePromise<Uint8Array | undefined> {
    return andThen(this.#kv.get(this.#rowKey), (row) => {
      context.ledger.charge('IdSequences', 'get', this.#rowKey, 1, this.#rowKey.length + (row?.length ?? 0))
      return row
    })
  }

  #know(row: Uint8Array | undefined): void {
    this.#row = row
    this.#rowNext = numberOf(row)
  }

  /** Runs a call now, or after the waiting ones. */
  #submit<T>(count: number, call: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#busy === 'no' && this.#queue.length === 0) {
      const answer = call()
      if (!isPromise(answer)) return answer
      return new Promise((resolve, reject) => this.#keepTurn(answer.then(resolve, reject)))
    }
    return new Promise((resolve, reject) => {
      const told = (): MaybePromise<void> => whenFails(() => andThen(call(), resolve), reject)
      this.#queue.push({ count, run: () => this.#keepTurn(told()) })
    })
  }

  /** Keeps the turn until the caller's promise has settled. */
  #keepTurn(told: MaybePromise<void>): void {
    if (!isPromise(told)) return
    this.#busy = 'job'
    void told.then(() => this.#finish())
  }

  #finish(): void {
    this.#busy = 'no'
    while (this.#busy === 'no' && this.#queue.length > 0) this.#queue.shift()?.run()
  }
}

/** The number in a row; a counter without a row is 1. */
function numberOf(row: Uint8Array | undefined): number {
  return row === undefined ? 1 : Number(decodeCounter(row))
}

function ignore(): void {}
