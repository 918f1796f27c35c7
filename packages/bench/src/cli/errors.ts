/** What a user asked for and cannot have: told in one message, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
