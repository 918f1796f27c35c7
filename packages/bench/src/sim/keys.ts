/** Keys as applications make them: consecutive numbers, names with a number, and names that begin with a hash. */
import type { Key } from '@sixtables/engine'
import { fnv } from '@sixtables/engine/testing'

/** FNV-1a with 32 bits, as eight hexadecimal digits: spreads consecutive names over the whole range. */
export function hashOf(words: string): string {
  let hash = fnv(words)
  // The last letters of a name change only the low bits; a final mix carries them to the high ones.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, '0')
}

/** A name at a position of an even spread: the share `share` of all names sorts before it. */
export function nameAt(share: number): string {
  return Math.floor(share * 0x1_0000_0000)
    .toString(16)
    .padStart(8, '0')
}

/** A path as text: equal for equal paths alone. */
export function wordsOfPath(path: Key['path']): string {
  return JSON.stringify(path.map(({ kind, id, name }) => [kind, id === undefined ? `n${name}` : `i${id}`]))
}
