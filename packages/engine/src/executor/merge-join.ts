/**
 * The zigzag merge join: the positions that all inputs have. The position of a row is the part of its key behind the prefix of its
 * scan: in the rows owner="ada", ToDo:1 and done=false, ToDo:1 it is ToDo:1.
 *
 * One input proposes its row as the candidate. Each other input in turn seeks to the first row at or after it. An input that
 * lands behind the candidate proposes its own row instead. When all inputs are at the candidate, it is a result, and the next
 * candidate is the following row of the input that came last. The join ends when an input has no more rows.
 *
 *   color = red    1     4  5        9              candidate 1 → 3 → 4: a result
 *   size = 10         3  4        8  9
 *
 * Cost: between the number of results and the total of all inputs' rows. The worst case is inputs that alternate without
 * equal rows.
 *
 * Known: "Index Selection and Advanced Search" describes the join over index scans with equal suffixes.
 */
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { BufferedInput, fillAll } from './buffered-input.ts'
import type { PositionedRow, RowStream } from './row-stream.ts'

/** Rows read after a seek: the target, and one to see whether the next is near. */
const batchMin = 2

export class MergeJoin implements RowStream {
  readonly #inputs: readonly BufferedInput[]
  #turn = 0
  #candidate: PositionedRow | undefined
  #met = 0
  #ended = false
  #opened = false

  constructor(streams: readonly RowStream[], reverse: boolean) {
    this.#inputs = streams.map((stream) => new BufferedInput(stream, reverse, batchMin))
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    return runSteps(this.#steps(count))
  }

  *#steps(count: number): Steps<readonly PositionedRow[]> {
    if (!this.#opened) {
      this.#opened = true
      yield* waitFor(fillAll(this.#inputs))
    }
    const found: PositionedRow[] = []
    while (found.length < count && !this.#ended) {
      const input = this.#inputs[this.#turn] as BufferedInput
      const moved = this.#candidate === undefined ? input.fill() : input.advanceTo(this.#candidate.position)
      if (moved !== undefined) yield moved
      const row = input.current
      this.#ended = row === undefined
      if (row === undefined) break
      if (row.position === this.#candidate?.position) this.#met++
      else {
        this.#candidate = row
        this.#met = 1
      }
      if (this.#met < this.#inputs.length) {
        this.#turn = (this.#turn + 1) % this.#inputs.length
        continue
      }
      found.push(row)
      input.pass()
      this.#candidate = undefined
      this.#met = 0
    }
    return found
  }

  seek(position: string): void {
    for (const input of this.#inputs) input.seek(position)
    this.#candidate = undefined
    this.#met = 0
  }

  close(): void {
    for (const input of this.#inputs) input.close()
  }
}
