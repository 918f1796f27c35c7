/**
 * A stream and what was read ahead of it: an input of a join or a union, which looks at one row at a time.
 *
 * Batches start small and double while they are used up row by row, so that few rows are read in vain and long runs are
 * cheap.
 *
 * B1  `current` is the first row not yet passed; `undefined` before the first fill, when the batch is used up, and at the
 *     end, which `ended` tells apart.
 */
import type { MaybePromise } from '../maybe-promise.ts'
import { isBefore } from './position.ts'
import { noRows, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMax = 256
/** How often in a row reading on may miss before seeking at once. */
const patienceMax = 3

export class BufferedInput {
  readonly #stream: RowStream
  readonly #reverse: boolean
  #rows: readonly PositionedRow[] = noRows
  #at = 0
  #batch: number
  readonly #batchMin: number
  /** While positive, the next target is expected nearby: read on before seeking. */
  #patience = 1
  /** What was tried for the target at hand. */
  #readOn = false
  #sought = false
  current: PositionedRow | undefined
  ended = false

  constructor(stream: RowStream, reverse: boolean, batchMin: number) {
    this.#stream = stream
    this.#reverse = reverse
    this.#batch = batchMin
    this.#batchMin = batchMin
  }

  /** Goes on to the next row, which may need a {@link fill}. */
  pass(): void {
    this.#at++
    this.current = this.#rows[this.#at]
  }

  /** Sees to it that there is a current row, or that the end is known. */
  fill(): MaybePromise<void> {
    if (this.current !== undefined || this.ended) return
    const rows = this.#stream.next(this.#batch)
    this.#batch = Math.min(this.#batch * 2, batchMax)
    if (rows instanceof Promise) return rows.then((late) => this.#take(late))
    this.#take(rows)
  }

  #take(rows: readonly PositionedRow[]): void {
    this.#rows = rows
    this.#at = 0
    this.current = rows[0]
    this.ended = rows.length === 0
  }

  /** Passes all rows before `position`. Afterwards there is a current row, or the end is known. */
  advanceTo(position: string): MaybePromise<void> {
    this.#readOn = false
    this.#sought = false
    return this.#advance(position)
  }

  #advance(position: string): MaybePromise<void> {
    for (;;) {
      if (this.#passBefore(position)) {
        // Found further on in a batch, or by reading on: the next one may be near too.
        if (this.#at > 0 || this.#readOn) this.#patience = Math.min(this.#patience + 1, patienceMax)
        return
      }
      if (this.ended) return
      if (this.#rows.length > 0 && !this.#sought) this.#readOnOrSeek(position)
      const filled = this.fill()
      if (filled !== undefined) return filled.then(() => this.#advance(position))
    }
  }

  #readOnOrSeek(position: string): void {
    if (this.#patience > 0 && !this.#readOn) {
      this.#readOn = true
      return
    }
    if (this.#readOn) this.#patience--
    this.#readOn = false
    this.#sought = true
    this.#batch = this.#batchMin
    this.#stream.seek(position)
  }

  /** Leaves out all rows before `position`, without reading any. */
  seek(position: string): void {
    if (this.#passBefore(position) || this.ended) return
    this.#rows = noRows
    this.#batch = this.#batchMin
    this.#stream.seek(position)
  }

  /** Whether a row at or after `position` is in the batch. */
  #passBefore(position: string): boolean {
    const rows = this.#rows
    const last = rows[rows.length - 1]
    if (last === undefined || isBefore(last.position, position, this.#reverse)) {
      this.#at = rows.length
      this.current = undefined
      return false
    }
    while (this.current !== undefined && isBefore(this.current.position, position, this.#reverse)) this.pass()
    return this.current !== undefined
  }

  close(): void {
    this.#stream.close()
  }
}

/** Fills all inputs; where the store answers by promise, side by side. `undefined`: nothing to wait for. */
export function fillAll(inputs: readonly BufferedInput[]): Promise<unknown> | undefined {
  let waits: Promise<void>[] | undefined
  for (const input of inputs) {
    const filled = input.fill()
    if (filled === undefined) continue
    waits ??= []
    waits.push(filled)
  }
  return waits === undefined ? undefined : Promise.all(waits)
}
