/** A mistake of the user: one message, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
