/**
 * Optimistic checks of single mutations: the version, or the update time, that a client believes is stored.
 *
 * CF1  The check is against what was stored before the commit, also where the commit mutates an entity several times: then
 *      one check speaks for all of that entity's mutations, and a conflict keeps every one of them from taking effect.
 * CF2  A missing entity has version 0, and update time 0.
 *
 * Known: comments of google.datastore.v1. Measured on both of Google's emulators: CF1, what is refused as senseless (an
 * insert that expects a stored version, an update that expects none, a version newer than the stored one), and that the
 * mutations of one entity may not differ in what they expect. The newer emulator lets a conflict pass under `serverValue`;
 * here, as in the older one, the mutation has no effect then.
 */
import { failedPrecondition, invalidArgument, worded } from '../errors.ts'
import type { EntityImage } from '../model/entity.ts'
import { formatKey, type Key } from '../model/key.ts'

export interface Conflict {
  readonly baseVersion?: bigint
  readonly updateTime?: bigint
  /** Absent = `serverValue`, but for mutations of one entity not the same as saying so. */
  readonly resolution?: 'serverValue' | 'fail'
}

/** Refuses expectations that cannot be meant, from the request alone. */
export function checkExpectation(operation: string, key: Key, { baseVersion, updateTime }: Conflict): void {
  const expected = baseVersion ?? updateTime ?? 0n
  if (operation === 'insert' && expected > 0n) {
    throw invalidArgument(`insert of ${formatKey(key)} expects a stored version (${expected}), but an insert has none`)
  }
  if (operation === 'update' && expected === 0n) {
    throw invalidArgument(`update of ${formatKey(key)} expects version 0, which is no entity; an update needs one`)
  }
}

/** Refuses a mutation that expects something else than an earlier one of the same entity in the commit. */
export function checkSameExpectation(key: Key, earlier: Conflict | undefined, later: Conflict | undefined): void {
  if (earlier?.resolution !== later?.resolution) {
    throw invalidArgument(
      `the mutations of ${formatKey(key)} in one commit differ in their conflict resolution strategy`,
    )
  }
  const expectsNothing = later?.baseVersion === undefined && later?.updateTime === undefined
  if (expectsNothing) return
  if (earlier?.baseVersion !== later.baseVersion || earlier?.updateTime !== later.updateTime) {
    throw invalidArgument(`the mutations of ${formatKey(key)} in one commit differ in the base version they expect`)
  }
}

/**
 * Whether the stored entity is another than expected.
 *
 * @throws DatastoreError FAILED_PRECONDITION when it is and the mutation asks to fail then; INVALID_ARGUMENT when something
 *   newer than what is stored is expected
 */
export function isConflict(key: Key, conflict: Conflict, image: EntityImage | undefined): boolean {
  const { baseVersion, updateTime, resolution } = conflict
  const [expected, stored, what] =
    baseVersion === undefined
      ? [updateTime ?? 0n, image?.updateTime ?? 0n, 'update time']
      : [baseVersion, image?.version ?? 0n, 'version']
  if (expected === stored) return false
  if (image !== undefined && expected > stored) {
    throw invalidArgument(`${formatKey(key)}: the expected ${what} ${expected} is newer than the stored one, ${stored}`)
  }
  if (resolution !== 'fail') return true
  throw failedPrecondition(
    worded(
      `${formatKey(key)}: the expected ${what} is ${expected}, the stored one ${image === undefined ? 'none' : stored}`,
      `the stored ${what} (${stored}) does not match the required base ${what} (${expected})`,
    ),
  )
}
