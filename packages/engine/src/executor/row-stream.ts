/**
 * The contract between operators: rows in result order, read in batches.
 *
 * A caller makes one call at a time (none while a promise of `next` is open), and closes the stream in the end, also after an
 * error. An operator closes its inputs when it is closed, reads no more than needed for what it was asked, and answers at
 * once if its inputs do.
 *
 * Positions rise strictly in result order, except below a union and where stale rows repeat. No scan reads a row twice,
 * whatever the seeks (test/property/query.test.ts). After an empty batch all later ones are empty.
 */
import type { RequestContext } from '../context.ts'
import { type MaybePromise, runSteps, type Steps } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Plan } from '../planner/plan-node.ts'
import { entityRowKey } from '../tables/entities.ts'
import type { TableView } from '../tables/table.ts'
import { pathIn } from './position.ts'

export interface Execution {
  readonly context: RequestContext
  readonly view: TableView
  readonly plan: Plan
}

/** An index row on its way through operators; planner/normal-query.ts explains positions. */
export interface PositionedRow {
  readonly position: string
  /** The row's cell: a type byte for each column of an index row, the image in a row of Entities. */
  readonly cell: Uint8Array
  /** The entity, if an operator had to read it. */
  readonly image: EntityImage | undefined
}

export interface RowStream {
  /** The next rows: at least one and at most `count`, or none at the end. */
  next(count: number): MaybePromise<readonly PositionedRow[]>
  /** Like `next`, but only the number of rows; absent if it is no cheaper. 0 at the end. */
  count?(count: number): MaybePromise<number>
  /**
   * Skips the rows before `position` in result order. The start of a position is enough. No effect if the stream is past it:
   * a filter may have read further than its caller knows.
   */
  seek(position: string): void
  close(): void
}

/** An operator with one input: it gets its rows in steps, and passes seeks and its end on. */
export abstract class Operator implements RowStream {
  protected readonly input: RowStream

  constructor(input: RowStream) {
    this.input = input
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    return runSteps(this.steps(count))
  }

  /** {@link next}, waiting for its input by `yield* waitFor(this.input.next(count))`. */
  protected abstract steps(count: number): Steps<readonly PositionedRow[]>

  seek(position: string): void {
    this.input.seek(position)
  }

  close(): void {
    this.input.close()
  }
}

/** The stored entity of a row; `undefined` if it is gone. */
export function readEntity(
  { context, view, plan }: Execution,
  { position }: PositionedRow,
): MaybePromise<Uint8Array | undefined> {
  return view.get(context, 'Entities', entityRowKey(plan.partitionCode, pathIn(plan, position)))
}

export const noRows: readonly PositionedRow[] = []

export const emptyStream: RowStream = { next: () => noRows, seek: () => {}, close: () => {} }
