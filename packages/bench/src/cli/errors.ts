/** A mistake of the user, and advice for an unknown name: the nearest known one, or the list of all. */
import { nearest } from '@sixtables/engine/did-you-mean'

/** A mistake of the user: one message, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function advice(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? `there is ${known.join(', ')}` : `did you mean ${near}?`
}

/** @param what - follows `there is no`. @throws UsageError if none of them has the name */
export function named<T extends { readonly name: string }>(all: readonly T[], what: string, name: string): T {
  const found = all.find((one) => one.name === name)
  if (found !== undefined) return found
  const names = all.map((one) => one.name)
  throw new UsageError(`there is no ${what} ${name}; ${advice(name, names)}`)
}
