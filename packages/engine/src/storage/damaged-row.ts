/** The error of a read of a damaged row, with its key in words: `… the row Entities(demo, ToDo:1) is damaged …`. */
import { prettyRowKey } from '../encoding/pretty.ts'
import { DatastoreError } from '../errors.ts'
import type { RowKey } from './kv.ts'

/** The bytes of a row on disk are not those that were written (row-proof.ts). */
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
