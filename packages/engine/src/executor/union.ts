/**
 * The rows of all inputs in order, each position once. An entity that matches several parts of an OR has equal positions in
 * several inputs; they are adjacent here. An entity with arrays may also have several positions: first-row.ts keeps the
 * first.
 */
import { type Steps, waitFor } from '../maybe-promise.ts'
import { BufferedInputs } from './buffered-input.ts'
import { isBefore } from './position.ts'
import { Operator, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMin = 4

export class Union extends Operator<BufferedInputs> {
  readonly #reverse: boolean

  constructor(streams: readonly RowStream[], reverse: boolean) {
    super(new BufferedInputs(streams, reverse, batchMin))
    this.#reverse = reverse
  }

  protected override *steps(count: number): Steps<readonly PositionedRow[]> {
    const found: PositionedRow[] = []
    while (found.length < count) {
      yield* waitFor(this.input.fill())
      const row = this.#least()
      if (row === undefined) break
      found.push(row)
      for (const input of this.input.all) if (input.current?.position === row.position) input.pass()
    }
    return found
  }

  #least(): PositionedRow | undefined {
    let least: PositionedRow | undefined
    for (const { current } of this.input.all) {
      if (current === undefined) continue
      if (least === undefined || isBefore(current.position, least.position, this.#reverse)) least = current
    }
    return least
  }
}
