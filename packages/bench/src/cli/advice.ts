/** Advice for an unknown word: the nearest known one, or the list of all. */
import { nearest } from '@sixtables/engine/did-you-mean'

export function advice(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? `there is ${known.join(', ')}` : `did you mean ${near}?`
}
