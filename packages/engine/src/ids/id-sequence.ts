/**
 * One counter of ids: its row in IdSequences, and the block of numbers that this process holds.
 *
 *   row       next number not yet given              given or lost │ in hand │ free
 *                                                                            └ row
 *
 * A conditional write that moves the row forward takes a block, and numbers are given from memory. With the row at 17 and a
 * block of 16 the row moves to 33, and 17 … 32 are in hand. A crash forfeits the rest of the block. A clean close moves the
 * row back over the rest, unless another allocator has moved the row; then a later block begins behind it, and the rest is lost.
 *
 * The row is c only if no number from c on was ever given or taken: after a crash the next number is greater than any given one
 * (test/property/ids.*.test.ts). Calls are answered in order, at once if enough is in hand; waiting callers share one refill.
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

export interface BlockPolicy {
  readonly firstSize: number
  readonly maxSize: number
}

/** Each refill doubles, so that a small store does not lose a thousand. */
export const growingBlocks: BlockPolicy = { firstSize: 16, maxSize: 1024 }
/** Only as many as the waiting callers need: several allocators of a store then see each other's reservations. */
export const exactBlocks: BlockPolicy = { firstSize: 0, maxSize: 0 }

/** Each failed conditional write is another allocator's success, so this many in a row mean a bug. */
const writeTriesMax = 1000

interface IdSequenceOptions {
  readonly kv: RowKv
  readonly rowKey: RowKey
  readonly space: IdSpace
  readonly blocks?: BlockPolicy
  readonly switchedOff?: SwitchedOff | undefined
}

export class IdSequence {
  readonly #options: IdSequenceOptions
  readonly #last: number
  readonly #blocks: BlockPolicy
  #blockSize: number
  /** Numbers in hand, from `#next` to before `#end`. */
  #next = 1
  #end = 1
  /** The row as last read or written, and its bytes; `undefined` = unknown. */
  #rowNext: number | undefined
  #row: Uint8Array | undefined
  /** Settles, never rejects, when the last call that waits or runs was answered; `undefined` = there is none. */
  #before: Promise<void> | undefined
  /** The numbers that waiting calls of take() need. */
  #wanted = 0

  constructor(options: IdSequenceOptions) {
    this.#options = options
    this.#last = counterMax[options.space]
    this.#blocks = options.blocks ?? growingBlocks
    this.#blockSize = this.#blocks.firstSize
  }

  get isIdle(): boolean {
    return this.#inHand === 0 && this.#before === undefined
  }

  get #inHand(): number {
    return this.#end - this.#next
  }

  /** The next `count` numbers, ascending. RESOURCE_EXHAUSTED if the space has fewer left; then none is taken. */
  take(context: RequestContext, count: number): MaybePromise<number[]> {
    return this.#submit(count, () => {
      if (this.#inHand >= count) return this.#give(count)
      return andThen(this.#refill(context, count), () => this.#give(count))
    })
  }

  /** `count` numbers in a row, by the first; smaller ones in hand are lost. RESOURCE_EXHAUSTED if there are none. */
  takeRun(context: RequestContext, count: number): MaybePromise<number> {
    const runFrom = (first: number): number => {
      this.#drop(first + count - 1)
      return first
    }
    return this.#submit(0, () => {
      if (this.#inHand >= count) return runFrom(this.#next)
      const moved = this.#moveRow(context, (rowNext) => {
        const first = this.#openFrom(rowNext)
        if (this.#last - first + 1 < count) throw this.#exhausted(count, first)
        return first + count
      })
      return andThen(moved, (rowNext) => runFrom(this.#openFrom(rowNext)))
    })
  }

  /** Moves past `max`, and takes the numbers up to it: from `first`, never given before, to `last`, less if none. */
  takeUpTo(context: RequestContext, max: number): MaybePromise<{ readonly first: number; readonly last: number }> {
    return this.#submit(0, () => {
      // The open block is below the row, wherever other allocators moved it.
      if (this.#inHand > 0 && max < this.#end) return this.#cutUpTo(max, this.#next)
      // Without a write nothing would show that others have moved the row, so read it.
      if (this.#rowNext !== undefined && this.#rowNext > max) this.#rowNext = undefined
      const moved = this.#moveRow(context, (rowNext) => Math.max(rowNext, max + 1))
      return andThen(moved, (rowNext) => this.#cutUpTo(max, this.#openFrom(rowNext)))
    })
  }

  /** Moves past `number`: it and all before it are not given any more. No effect if it was given or passed. */
  skipPast(context: RequestContext, number: number): MaybePromise<void> {
    return andThen(this.takeUpTo(context, number), () => undefined)
  }

  /** The number that take() would give now, without taking it. */
  peek(context: RequestContext): MaybePromise<number> {
    if (this.#inHand > 0) return this.#next
    return this.#submit(0, () => (this.#inHand > 0 ? this.#next : andThen(this.#readRow(context), numberOf)))
  }

  /** Returns the numbers in hand if no one else moved the row; else they are lost, as after a crash. Never fails. */
  release(context: RequestContext): MaybePromise<void> {
    return this.#submit(0, () => {
      const [next, end] = [this.#next, this.#end]
      this.#next = end
      if (next === end || end !== this.#rowNext) return
      // After an error the numbers are lost, as the docstring says.
      return whenFails(() => andThen(this.#writeRow(context, next), ignore), ignore)
    })
  }

  #give(count: number): number[] {
    const counts = !this.#options.switchedOff?.has('id-counter')
    invariant(this.#inHand >= count || !counts, 'allocator/I4: numbers are given only from those in hand')
    const first = this.#next
    if (counts) this.#next += count
    const numbers: number[] = []
    for (let i = 0; i < count; i++) numbers.push(first + i)
    return numbers
  }

  #drop(last: number): void {
    if (this.#next <= last) this.#next = Math.min(this.#end, last + 1)
  }

  #cutUpTo(max: number, first: number): { first: number; last: number } {
    this.#drop(max)
    return { first, last: Math.max(max, first - 1) }
  }

  /** The first number from which on all are in hand or free, if the row is `rowNext`. */
  #openFrom(rowNext: number): number {
    return this.#end === rowNext ? this.#next : rowNext
  }

  /** Takes a block, so that at least `count` numbers are in hand, plus those that waiting callers need. */
  #refill(context: RequestContext, count: number): MaybePromise<void> {
    const wanted = count + this.#wanted
    let end = 0
    const moved = this.#moveRow(context, (rowNext) => {
      const held = rowNext - this.#openFrom(rowNext)
      const free = this.#last - rowNext + 1
      if (free < count - held) throw this.#exhausted(count - held, rowNext)
      end = rowNext + Math.min(free, Math.max(wanted - held, this.#blockSize))
      return end
    })
    return andThen(moved, (rowNext) => {
      this.#blockSize = Math.min(this.#blocks.maxSize, this.#blockSize * 2)
      this.#next = this.#openFrom(rowNext)
      this.#end = end
    })
  }

  #exhausted(count: number, next: number): DatastoreError {
    // Another allocator may return some: read the row next time.
    this.#rowNext = undefined
    return new DatastoreError(
      'RESOURCE_EXHAUSTED',
      `${count} ${this.#options.space} ids were asked for, but the counter stands at ${next} of ${this.#last}: the id space is ` +
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
      if (this.#rowNext === undefined) {
        this.#row = yield* waitFor(this.#readRow(context))
        this.#rowNext = numberOf(this.#row)
      }
      const from = this.#rowNext as number
      const to = target(from)
      if (to === from || (yield* waitFor(this.#writeRow(context, to)))) return from
    }
    throw new DatastoreError('ABORTED', `the id counter was moved by others ${writeTriesMax} times in a row; try again`)
  }

  /** Writes the row if it still has the known value, which counts as unknown until the answer, because the write may fail. */
  #writeRow(context: RequestContext, next: number): MaybePromise<boolean> {
    const expected = this.#row
    const row = encodeCounter(BigInt(next))
    this.#rowNext = undefined
    const { kv, rowKey } = this.#options
    return andThen(kv.mutateIf({ key: rowKey, value: row }, expected), (ok) => {
      context.ledger.charge('IdSequences', ok ? 'put' : 'get', rowKey, 1, rowKey.length + row.length)
      if (ok) {
        this.#rowNext = next
        this.#row = row
      }
      return ok
    })
  }

  #readRow(context: RequestContext): MaybePromise<Uint8Array | undefined> {
    const { kv, rowKey } = this.#options
    return andThen(kv.get(rowKey), (row) => {
      context.ledger.charge('IdSequences', 'get', rowKey, 1, rowKey.length + (row?.length ?? 0))
      return row
    })
  }

  /** Runs a call now, or after the answers of the earlier ones. @param count - the numbers that it takes while it waits */
  #submit<T>(count: number, call: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#before === undefined) {
      const answer = call()
      return isPromise(answer) ? this.#inTurn(answer) : answer
    }
    this.#wanted += count
    const run = (): MaybePromise<T> => {
      this.#wanted -= count
      return call()
    }
    return this.#inTurn(this.#before.then(run))
  }

  #inTurn<T>(answer: Promise<T>): Promise<T> {
    const over = answer.then(ignore, ignore)
    this.#before = over
    void over.then(() => {
      if (this.#before === over) this.#before = undefined
    })
    return answer
  }
}

/** The number in a row; a counter without a row is 1. */
function numberOf(row: Uint8Array | undefined): number {
  return row === undefined ? 1 : Number(decodeCounter(row))
}

function ignore(): void {}
