/**
 * The error for an id of a new entity that an existing entity has, which was written with that id by hand. A transaction then
 * wrote nothing, and a list of mutations nothing from here on. The counter has moved, so a retry gets another id.
 *
 * Measured: the code of a collision (Firestore emulator); known: its wording.
 */
import { DatastoreError } from '../errors.ts'
import { formatKey, type Key } from '../model/key.ts'

export function idCollisionError(key: Key): DatastoreError {
  return new DatastoreError(
    'INVALID_ARGUMENT',
    `the id allocated for a new entity was already in use, please try again (${formatKey(key)}); ` +
      'reserve ids that you choose yourself, so that they are never given',
    { retry: 'request' },
  )
}
