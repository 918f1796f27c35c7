/**
 * The rows of all inputs in order, each position once. An entity that matches several parts of an OR has equal positions in
 * several inputs; they are adjacent here. An entity with arrays may also have several positions: first-row.ts keeps the
 * first.
 */
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { BufferedInput, fillAll } from './buffered-input.ts'
import { isBefore } from './position.ts'
import type { PositionedRow, RowStream } from './row-stream.ts'

const batchMin = 4

export class Union implements RowStream {
  readonly #inputs: readonly BufferedInput[]
  readonly #reverse: boolean

  constructor(streams: readonly RowStream[], reverse: boolean) {
    this.#inputs = streams.map((stream) => new BufferedInput(stream, reverse, batchMin))
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    return runSteps(this.#steps(count))
  }

  *#steps(count: number): Steps<readonly PositionedRow[]> {
    const found: PositionedRow[] = []
    while (found.length < count) {
      yield* waitFor(fillAll(this.#inputs))
      const row = this.#least()
      if (row === undefined) break
      found.push(row)
      for (const input of this.#inputs) if (input.current?.position === row.position) input.pass()
    }
    return found
  }

  #least(): PositionedRow | undefined {
    let least: PositionedRow | undefined
    for (const { current } of this.#inputs) {
      if (current === undefined) continue
      if (least === undefined || isBefore(current.position, least.position, this.#reverse)) least = current
    }
    return least
  }

  seek(position: string): void {
    for (const input of this.#inputs) input.seek(position)
  }

  close(): void {
    for (const input of this.#inputs) input.close()
  }
}
