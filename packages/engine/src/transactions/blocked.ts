/** Thrown by a commit that meets locks, so that it leaves the exclusive commit section and waits outside of it. */
import type { Footprint } from '../log/commit-input.ts'
import type { RowKey } from '../storage/kv.ts'
import type { Transaction } from './transaction.ts'

/** Thrown inside the exclusive section to leave it: the commit must wait for these. */
export class Blocked extends Error {
  readonly holders: readonly Transaction[]
  readonly row: RowKey
  /** The rows that the commit is about to change. */
  readonly footprint: Footprint

  constructor(holders: readonly Transaction[], row: RowKey, footprint: Footprint) {
    super('blocked')
    this.holders = holders
    this.row = row
    this.footprint = footprint
  }
}
