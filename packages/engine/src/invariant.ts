/**
 * Checks of what must always hold. A broken invariant is our fault, never an answer to a client: the gateway logs it and
 * reports INTERNAL.
 */

/** Thrown when an invariant does not hold; `name` in the message is the one used in file heads and tests (`L1`, `T2`). */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Throws {@link InvariantError} unless `condition` holds. `message` starts with the invariant's name where it has one. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** The arm of a switch that the types say cannot be reached. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
