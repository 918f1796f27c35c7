/** Thrown by a commit that meets locks, so that it leaves the exclusive commit section and waits outside of it. */
import type { Footprint } from '../log/commit-input.ts'
import type { RowKey } from '../storage/kv.ts'

/** Thrown inside the exclusive section to leave it: the commit must wait for a row. */
export class Blocked extends Error {
  /** The first row that another transaction holds. */
  readonly row: RowKey
  /** The rows that the commit is about to change. */
  readonly footprint: Footprint

  constructor(row: RowKey, footprint: Footprint) {
    super('blocked')
    this.row = row
    this.footprint = footprint
  }
}
