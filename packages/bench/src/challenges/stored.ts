/** Random texts that a program is given, and a look at the store itself for them. */
import { decodeProperties, type Value } from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { runInFull } from '../sim/query-run.ts'
import type { Store } from '../sim/store.ts'

/** Sixteen hexadecimal digits: too many to guess, or to hide in a number. */
export function token(random: Random): string {
  const half = (): string => random.integer(2 ** 32).toString(16)
  return half().padStart(8, '0') + half().padStart(8, '0')
}

/**
 * Looks for tokens in the names and properties of all entities, however deep and within what words.
 *
 * @returns how many of them are stored
 */
export async function storedOf(store: Store, tokens: readonly string[]): Promise<number> {
  const wanted = new Set(tokens)
  const found = new Set<string>()
  const note = (words: string): void => {
    for (const one of words.match(/[0-9a-f]{16}/g) ?? []) if (wanted.has(one)) found.add(one)
  }
  const look = (value: Value): void => {
    if (value.type === 'string') note(value.value)
    else if (value.type === 'array') for (const one of value.values) look(one)
  }
  const { results } = await runInFull(store, store.query(undefined))
  for (const { key, image } of results) {
    for (const { name } of key.path) note(name ?? '')
    if (image !== undefined) for (const [, value] of decodeProperties(image.properties)) look(value)
  }
  return found.size
}
