/**
 * LevelDB's errors in the words of the store. LevelDB's own codes (known: classic-level's documentation) stay in the cause.
 */
import { prettyRowKey } from '../encoding/pretty.ts'
import { DatastoreError } from '../errors.ts'
import type { RowKey } from './kv.ts'

/** The bytes of a row on disk are not those that were written (row-proof.ts): `… the row Entities(demo, ToDo:1) is damaged …`. */
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

/** LevelDB's code of an error or of its cause, such as LEVEL_LOCKED; empty when it has none. */
export function levelCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const below = levelCode(error.cause)
  if (below !== '') return below
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The innermost message, which names files and system errors. */
export function levelReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : levelReason(error.cause)
}

export function closedError(location: string, cause?: unknown): DatastoreError {
  return new DatastoreError('UNAVAILABLE', `The store in ${location} was closed; open it anew to go on.`, { cause })
}

export function readError(location: string, cause: unknown): DatastoreError {
  if (cause instanceof DamagedRow) return cause
  const closed = ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN'].includes(levelCode(cause))
  if (closed) return closedError(location, cause)
  const message = `Reading from the store in ${location} failed: ${levelReason(cause)}. See to the disk, then restart.`
  return new DatastoreError('UNAVAILABLE', message, { cause })
}
