/**
 * Checks of invariants. A broken invariant is a bug of ours, never an answer to a client: the gateway logs it and reports
 * INTERNAL. The message begins with the invariant's name (`L1`, `T2`), if it has one; file heads and tests use the same name.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** @throws InvariantError unless `condition` holds */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
