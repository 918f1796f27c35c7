/**
 * Checks of invariants. A broken invariant is a bug of ours, never an answer to a client: the gateway logs it and reports
 * INTERNAL.
 */

/**
 * Thrown if an invariant does not hold. The message begins with the invariant's name (`L1`, `T2`), if it has one; file heads
 * and tests use the same name.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/**
 * Throws {@link InvariantError} unless `condition` holds. `message` starts with the invariant's name, if it has one.
 */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** For a branch that the types exclude. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
