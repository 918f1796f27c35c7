/**
 * One counter of ids: its row in IdSequences, and the block of it that is in hand.
 *
 *   row       next number not yet given              given, lost or in an open block │ free
 *   in hand   runs of numbers, ours alone                        ├── run ──┤     ├ run ┤row
 *
 * A block is taken by moving the row forward with a conditional write, and served from memory. A crash forfeits the rest of
 * the block, so no number is given twice. A clean close moves the row back over the rest, if no other allocator has moved it.
 *
 *   blocks   16, 32, 64 … 1,024 numbers: they double with each refill, so that a small store does not burn a thousand.
 *            Below a quarter of a grown block the next one is fetched ahead of need.
 *   exact    firstSize = maxSize = 0: as many as the callers now waiting want, and nothing is kept in hand. For a store
 *            with several allocators: only so does each see what another one has reserved.
 *
 * Numbers are counters of one space, below 2^53, so plain numbers. Calls are answered in the order they were made: with
 * enough in hand at once, else one after the other; callers that wait for numbers share one refill.
 *
 * I4   No number is given twice, by any sequences over one row.       test/property/ids.*.test.ts
 * I12  After a crash the next number is greater than any given one.
 * B1   Row = c means: no number c or above was ever given or taken. So a conditional write that finds c may take from c on,
 *      whatever happened in between, and a give-back may lower the row to the start of a run that ends at c.
 *
 * Known: one row a counter, taken by compare-and-set; SDK stubs take blocks of 1,000. Ours: growth, give-back, exact mode.
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
  /** From this block size on, refills come ahead of need. */
  readonly aheadSizeMin: number
}

export const growingBlocks: BlockPolicy = { firstSize: 16, maxSize: 1024, aheadSizeMin: 64 }
export const exactBlocks: BlockPolicy = { firstSize: 0, maxSize: 0, aheadSizeMin: 1 }

/** Each failed conditional write is another allocator's success; so many in a row mean that something is broken. */
const writeTriesMax = 1000

/** Numbers from `next` (inclusive) to `end` (exclusive). */
interface Run {
  next: number
  end: number
}

/** A call that waits for its turn. `count` numbers are wanted by a taker, 0 by any other call. */
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
  /** Ours, ascending and disjoint; none is empty. More than one only where another allocator took a block in between. */
  #runs: Run[] = []
  #inHand = 0
  /** The row as last read or written, and its bytes; `undefined` = not known. */
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

  /** Whether nothing is in hand and no call is under way. */
  get isIdle(): boolean {
    return this.#inHand === 0 && this.#busy === 'no' && this.#queue.length === 0
  }

  /** The next `count` numbers, ascending. RESOURCE_EXHAUSTED when the space has not so many left; then none is taken. */
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
   * `count` numbers in one piece; answers the first. Smaller numbers still in hand are lost, so that what a sequence gives
   * only grows. RESOURCE_EXHAUSTED when there is no such piece.
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
   * Moves past `max`, and takes what is free up to it.
   *
   * @returns the first number that had never been given, and the last number taken, which is below it when none is
   */
  takeUpTo(context: RequestContext, max: number): MaybePromise<{ readonly first: number; readonly last: number }> {
    return this.#submit(0, () => {
      const lastRun = this.#runs[this.#runs.length - 1]
      if (lastRun !== undefined && max < lastRun.end) return this.#cutUpTo(max, lastRun.next)
      return andThen(this.#moveRowPast(context, max), (rowNext) => this.#cutUpTo(max, this.#openFrom(rowNext)))
    })
  }

  /** Moves past `number`: it and all before it are not given any more. Nothing changes when it was given or passed. */
  skipPast(context: RequestContext, number: number): MaybePromise<void> {
    return this.#submit(0, () => {
      const lastRun = this.#runs[this.#runs.length - 1]
      this.#drop(number)
      // The open block is below the row, wherever others have moved it.
      if (lastRun !== undefined && number < lastRun.end) return
      return andThen(this.#moveRowPast(context, number), () => undefined)
    })
  }

  /** The number that the next call of take() would give if it were made now; nothing changes. */
  peek(context: RequestContext): MaybePromise<number> {
    const next = (): MaybePromise<number> => {
      const run = this.#runs[0]
      return run !== undefined ? run.next : andThen(this.#readRow(context), numberOf)
    }
    return this.#inHand > 0 ? next() : this.#submit(0, next)
  }

  /**
   * Gives back what is in hand: the row moves back if it still says what we wrote. Never fails: what cannot be given back
   * is lost, as after a crash. The sequence can be used again.
   */
  release(context: RequestContext): MaybePromise<void> {
    return this.#submit(0, () => {
      const lastRun = this.#runs[this.#runs.length - 1]
      const rowNext = this.#rowNext
      this.#runs = []
      this.#inHand = 0
      if (lastRun === undefined || lastRun.end !== rowNext) return
      // Numbers that cannot be given back are lost, as the docstring says.
      return whenFails(() => andThen(this.#writeRow(context, lastRun.next), ignore), ignore)
    })
  }

  // The open block

  #give(count: number): number[] {
    const numbers: number[] = []
    if (!this.#counts) return Array.from({ length: count }, (_, i) => (this.#runs[0]?.next ?? 1) + i)
    while (numbers.length < count) {
      const run = this.#runs[0]
      invariant(run !== undefined, 'I4: numbers are given only from those in hand')
      const end = Math.min(run.end, run.next + count - numbers.length)
      for (let number = run.next; number < end; number++) numbers.push(number)
      this.#removeFrom(run, end)
    }
    return numbers
  }

  /** Takes the numbers below `next` out of a run. */
  #removeFrom(run: Run, next: number): void {
    this.#inHand -= next - run.next
    run.next = next
    if (run.next === run.end) this.#runs.splice(this.#runs.indexOf(run), 1)
  }

  /** Forgets the numbers in hand up to `last`. */
  #drop(last: number): void {
    for (const run of [...this.#runs]) {
      if (run.next <= last) this.#removeFrom(run, Math.min(run.end, last + 1))
    }
  }

  #cutUpTo(max: number, first: number): { first: number; last: number } {
    this.#drop(max)
    return { first, last: Math.max(max, first - 1) }
  }

  /** The first number from which on all are ours or free, when the row says `rowNext`. */
  #openFrom(rowNext: number): number {
    const lastRun = this.#runs[this.#runs.length - 1]
    return lastRun?.end === rowNext ? lastRun.next : rowNext
  }

  // Refills

  /** Takes a block of at least `needed` numbers, and of what the callers waiting behind want as well. */
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

  /** Starts a refill in the background when a grown block runs low. Its failure is that of the next one, too. */
  #refillAhead(context: RequestContext): void {
    if (this.#busy !== 'no' || this.#blockSize < this.#blocks.aheadSizeMin || this.#inHand * 4 > this.#blockSize) return
    // The caller that needs the numbers meets a failure again and reports it.
    const done = whenFails(() => this.#refill(context, 0), ignore)
    if (!isPromise(done)) return
    this.#busy = 'ahead'
    void done.then(() => this.#finish())
  }

  #exhausted(count: number, next: number): DatastoreError {
    // Another allocator may give some back: look again next time.
    this.#rowNext = undefined
    return new DatastoreError(
      'RESOURCE_EXHAUSTED',
      `${count} ${this.#space} ids were asked for, but the counter stands at ${next} of ${this.#last}: the id space is ` +
        'used up, or a reservation moved the counter to its end. Use names, or another parent, kind or database',
      { retry: 'never' },
    )
  }

  // The row

  /** Moves the row by conditional writes from what it says to `target(it)`; answers what it said. */
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

  /** Moves the row past `number` if it is not; answers what it said. */
  #moveRowPast(context: RequestContext, number: number): MaybePromise<number> {
    // Where nothing is to be written, nothing shows that others have moved the row: look again.
    if (this.#rowNext !== undefined && this.#rowNext > number) this.#rowNext = undefined
    return this.#moveRow(context, (rowNext) => Math.max(rowNext, number + 1))
  }

  /** Writes the row if it says what we believe. Until the answer is there we believe nothing: it may be an error. */
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

  // Turns

  /** Runs a call now, or after those before it. */
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

  /** Keeps the turn until the caller has been told. */
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

/** The number in a row; a counter without a row stands at 1. */
function numberOf(row: Uint8Array | undefined): number {
  return row === undefined ? 1 : Number(decodeCounter(row))
}

function ignore(): void {}
