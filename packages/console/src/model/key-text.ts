/**
 * Keys as they are typed, in both directions: `User:"ada"/ToDo:5`, root first. An id is a whole number; a name is in quotes, which it
 * needs only where it could be read as something else.
 *
 * K1  parseKeyPath(formatKeyPath(path)) is `path`, complete or with a kind alone at its end.          key-text.test.ts
 *
 * The same notation as the command line's; ids stay texts, since they have 64 bits.
 */
import { readKeyPath } from '@sixtables/gateway/browser'
import { caught } from './caught.ts'

export { formatKeyPath } from '@sixtables/gateway/browser'

/** An element of a path in the API's JSON; without `id` and `name` it is a kind alone. */
export interface PathElement {
  readonly kind: string
  readonly id?: string
  readonly name?: string
}

export interface ApiKey {
  readonly partitionId?: { readonly projectId?: string; readonly databaseId?: string; readonly namespaceId?: string }
  readonly path: readonly PathElement[]
}

/** A text that is no key; the message says where it stops being one. */
export class KeyTextError extends Error {}

/** @throws KeyTextError */
export function parseKeyPath(text: string): readonly PathElement[] {
  const wrong = (what: string): KeyTextError =>
    new KeyTextError(`This is no key: ${what}. Write a key like ToDo:1 or User:"ada"/ToDo:5.`)
  return Array.from(readKeyPath(text, 'either', wrong), ({ id, ...element }) =>
    id === undefined ? (element as PathElement) : { kind: element.kind, id: String(id) },
  )
}

export function isComplete(path: readonly PathElement[]): boolean {
  const last = path.at(-1)
  return last?.id !== undefined || last?.name !== undefined
}

export function keyProblem(text: string): string | undefined {
  const path = caught(KeyTextError, () => parseKeyPath(text))
  return path instanceof KeyTextError ? path.message : undefined
}
