/** The errors that end the turn of a commit which is then repeated: after it has waited for a locked row, or with a guard. */
import type { Footprint } from '../log/footprint.ts'
import type { RowKey } from '../storage/kv.ts'

export class Blocked extends Error {
  readonly row: RowKey
  /** The rows that the commit is about to change. */
  readonly footprint: Footprint

  constructor(row: RowKey, footprint: Footprint) {
    super('blocked')
    this.row = row
    this.footprint = footprint
  }
}

/** Thrown for a commit that began without a guard, if a transaction has locked its rows since: it is repeated with a guard. */
export class Overtaken extends Error {}
