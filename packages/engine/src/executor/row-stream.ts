/**
 * The contract between operators: rows in result order, pulled in batches.
 *
 * Duties of a caller: one call at a time (none while a promise of `next` is open); it closes the stream in the end, also
 * after an error, and does not call a closed one. Duty of an operator: to close its inputs when
 * it is closed, to read no faster than it is asked, and to answer at once when its inputs do.
 *
 * O1  Positions rise strictly in result order, except below a union's inputs and where stale rows repeat.
 * O2  No scan reads a row twice, with any seeks.       test/property/query.test.ts
 * O3  next() gives an empty batch only at the end, and then for ever.
 */
import type { MaybePromise } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'

/** An index row as operators hand it on; see planner/normal-query.ts for positions. */
export interface PositionedRow {
  readonly position: string
  /** The row's cell: a type byte for each column of an index row, the image in a row of Entities. */
  readonly cell: Uint8Array
  /** The entity, when an operator had to look at it. */
  readonly image: EntityImage | undefined
}

export interface RowStream {
  /** The next rows: at least one and at most `count`, or none at the end. */
  next(count: number): MaybePromise<readonly PositionedRow[]>
  /** As `next`, where only their number is asked for; absent = not simpler than reading them. 0 at the end. */
  count?(count: number): MaybePromise<number>
  /**
   * Leaves out the rows before `position` in result order. It need not be a row's: a start of positions will do. To one
   * that is passed already it does nothing: who filters may have read further than its caller can know.
   */
  seek(position: string): void
  close(): void
}

export const noRows: readonly PositionedRow[] = []

/** A stream without rows. */
export const emptyStream: RowStream = { next: () => noRows, seek: () => {}, close: () => {} }
