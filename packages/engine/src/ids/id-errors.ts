/** Errors about ids. Measured: the code of a collision (Firestore emulator); known: its wording. */
import { DatastoreError, invalidArgument } from '../errors.ts'
import { formatKey, isComplete, type Key } from '../model/key.ts'

/**
 * The error for an id of a new entity that an existing entity has, which was written with that id by hand. A transaction then
 * wrote nothing, and a list of mutations nothing from here on. The counter has moved, so a retry gets another id.
 */
export function idCollisionError(key: Key): DatastoreError {
  return new DatastoreError(
    'INVALID_ARGUMENT',
    `the id allocated for a new entity was already in use, please try again (${formatKey(key)}); ` +
      'reserve ids that you choose yourself, so that they are never given',
    { retry: 'request' },
  )
}

/** Checks a key that is to get an id: incomplete, under complete ancestors. */
export function checkIncomplete(key: Key): void {
  checkAncestors(key)
  const leaf = key.path[key.path.length - 1]
  if (leaf !== undefined && isComplete(leaf)) {
    throw invalidArgument(
      `an id can be allocated only for an incomplete key; ${formatKey(key)} has an id or a name: leave out the last one`,
    )
  }
}

/** Checks a key whose ids are to be reserved: complete in every element. */
export function checkComplete(key: Key): void {
  checkAncestors(key)
  const leaf = key.path[key.path.length - 1]
  if (leaf !== undefined && !isComplete(leaf)) {
    throw invalidArgument(`only a complete key can be reserved; ${formatKey(key)} lacks its last id or name`)
  }
}

export function checkAncestors(key: Key): void {
  if (key.path.length === 0) throw invalidArgument('a key has at least one path element; this one has none')
  for (let i = 0; i < key.path.length - 1; i++) {
    const element = key.path[i]
    if (element !== undefined && !isComplete(element)) {
      throw invalidArgument(`every ancestor in a key has an id or a name; one in ${formatKey(key)} has not`)
    }
  }
}
