/**
 * A stream with the rows that were read ahead: an input of a join or a union, which looks at one row at a time.
 *
 * Batches start small and double while they are used up row by row, so that few rows are read in vain and long runs are
 * cheap. `current` is `undefined` before the first fill, when the batch is used up, and at the end; only at the end is
 * `ended` true.
 */
import { allOf, andThen, type MaybePromise, runSteps, type Steps } from '../maybe-promise.ts'
import { isBefore } from './position.ts'
import { noRows, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMax = 256
/** After this many misses in a row it seeks at once instead of reading on. */
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
  current: PositionedRow | undefined
  ended = false

  constructor(stream: RowStream, reverse: boolean, batchMin: number) {
    this.#stream = stream
    this.#reverse = reverse
    this.#batch = batchMin
    this.#batchMin = batchMin
  }

  /** Moves to the next row, which may need a {@link fill}. */
  pass(): void {
    this.#at++
    this.current = this.#rows[this.#at]
  }

  /** Reads the next batch, unless there is a current row or the end is known. */
  fill(): MaybePromise<void> {
    if (this.current !== undefined || this.ended) return
    const rows = this.#stream.next(this.#batch)
    this.#batch = Math.min(this.#batch * 2, batchMax)
    return andThen(rows, (read) => {
      this.#rows = read
      this.#at = 0
      this.current = read[0]
      this.ended = read.length === 0
    })
  }

  advanceTo(position: string): MaybePromise<void> {
    if (!this.#passBefore(position)) return runSteps(this.#readTo(position))
    // The target was in the batch, so the next one may be near too.
    if (this.#at > 0) this.#patience = Math.min(this.#patience + 1, patienceMax)
  }

  *#readTo(position: string): Steps<void> {
    let readOn = false
    let sought = false
    do {
      if (this.ended) return
      if (this.#rows.length > 0 && !sought) {
        if (this.#patience > 0 && !readOn) readOn = true
        else {
          if (readOn) this.#patience--
          readOn = false
          sought = true
          this.#batch = this.#batchMin
          this.#stream.seek(position)
        }
      }
      const filled = this.fill()
      if (filled !== undefined) yield filled
    } while (!this.#passBefore(position))
    if (this.#at > 0 || readOn) this.#patience = Math.min(this.#patience + 1, patienceMax)
  }

  /** Skips all rows before `position` without reading. */
  seek(position: string): void {
    if (this.#passBefore(position) || this.ended) return
    this.#rows = noRows
    this.#batch = this.#batchMin
    this.#stream.seek(position)
  }

  /** Moves within the batch to the first row at or after `position`; false if there is none. */
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

/** Fills all inputs, in parallel if the store answers by promise. `undefined`: nothing to wait for. */
export function fillAll(inputs: readonly BufferedInput[]): MaybePromise<unknown> {
  if (inputs.some(({ current, ended }) => current === undefined && !ended))
    return allOf(inputs, (input) => input.fill())
}
