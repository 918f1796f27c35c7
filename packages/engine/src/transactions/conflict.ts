/**
 * Optimistic checks of single mutations: the client names the version, or the update time, that it expects in the store.
 *
 *   update ToDo:1, base_version 7      takes effect if version 7 of ToDo:1 is stored; otherwise it is a conflict
 *
 * A missing entity has version 0 and update time 0.
 *
 * CF1  The check compares with the state before the commit, also if the commit mutates the entity several times. One check decides
 *      for all mutations of that entity: after a conflict, none of them takes effect.        conflict.test.ts
 *
 * Known: comments of google.datastore.v1. Measured on both of Google's emulators: CF1; the mutations of one entity must expect
 * the same; some expectations are invalid (an insert that expects a stored version, an update that expects none, a version
 * newer than the stored one). With `serverValue`, the newer emulator ignores a conflict; here, as in the older one, the
 * mutation has no effect.
 */
import { failedPrecondition, invalidArgument, worded } from '../errors.ts'
import type { EntityImage } from '../model/entity.ts'
import { formatKey, type Key } from '../model/key.ts'

/** In a conflict `serverValue` keeps the stored state and reports it; `fail` refuses the commit. */
export interface Conflict {
  readonly baseVersion?: bigint
  readonly updateTime?: bigint
  /** Absent = `serverValue`. But mutations of one entity must all name it, or none. */
  readonly resolution?: 'serverValue' | 'fail'
}

/** Refuses expectations that make no sense, from the request alone. */
export function checkExpectation(operation: string, key: Key, { baseVersion, updateTime }: Conflict): void {
  const expected = baseVersion ?? updateTime ?? 0n
  if (operation === 'insert' && expected > 0n) {
    throw invalidArgument(`insert of ${formatKey(key)} expects a stored version (${expected}), but an insert has none`)
  }
  if (operation === 'update' && expected === 0n) {
    throw invalidArgument(`update of ${formatKey(key)} expects version 0, which is no entity; an update needs one`)
  }
}

/** Refuses a mutation whose expectation differs from that of an earlier mutation of the same entity. */
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
 * Whether the stored entity differs from the expected one.
 *
 * @throws DatastoreError FAILED_PRECONDITION for a conflict if the mutation asks for it; INVALID_ARGUMENT if the expected version
 *   is newer than the stored one
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
