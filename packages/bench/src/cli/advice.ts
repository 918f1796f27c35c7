/** Advice after a word that is not known: the nearest one, or all that there are. */
import { nearest } from '@sixtables/engine/nearest'

export function advice(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? `there is ${known.join(', ')}` : `did you mean ${near}?`
}
