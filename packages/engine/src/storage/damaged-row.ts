/** The error of a read whose row is not as it was written. */
import { prettyRowKey } from '../encoding/pretty.ts'
import { DatastoreError } from '../errors.ts'
import type { RowKey } from './kv.ts'

/** A row of a store on disk whose bytes are not what was written (row-proof.ts). */
export class DamagedRow extends DatastoreError {
  readonly rowKey: RowKey

  constructor(location: string, rowKey: RowKey) {
    super(
      'UNAVAILABLE',
      `Reading from the store in ${location} failed: the row ${prettyRowKey(rowKey)} is damaged, its bytes do not fit its ` +
        'checksum. Restore the folder from a copy; sixtables check says what else is damaged.',
    )
    this.rowKey = rowKey
  }
}
