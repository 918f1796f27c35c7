/**
 * The error of GQL text: INVALID_ARGUMENT, with its place. It is a class of its own so that tokens, parser and printer import nothing of
 * the engine: the console runs them in the browser.
 */
export class GqlError extends Error {
  override readonly name = 'GqlError'
  readonly code = 'INVALID_ARGUMENT'
  /** Offset in the text. */
  readonly at: number

  /** The message has line and column, both from 1. */
  constructor(text: string, at: number, message: string) {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    const column = at - (before.lastIndexOf('\n') + 1) + 1
    super(`GQL, line ${line}, column ${column}: ${message}`)
    this.at = at
  }
}
