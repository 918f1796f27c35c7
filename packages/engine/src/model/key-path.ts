/** Paths of keys and of kinds, of texts that a person types (typed-keys.ts). */
import { invalidArgument } from '../errors.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import { readKeyPath, shown } from '../typed-keys.ts'
import type { PathElement } from './key.ts'

/** Parses a path of complete elements. Ids are signed 64-bit, not 0. INVALID_ARGUMENT with the place that is no key. */
export function parseKeyPath(text: string): readonly PathElement[] {
  return parsePath(text, 'complete', 'the key', 'ToDo:1 or User:"ada"/ToDo:5')
}

/** Parses a path whose last element is a kind alone. @throws DatastoreError like {@link parseKeyPath} */
export function parseKindPath(text: string): readonly PathElement[] {
  return parsePath(text, 'kind', 'the kind', 'ToDo or User:"ada"/ToDo')
}

function parsePath(text: string, ends: 'complete' | 'kind', name: string, example: string): readonly PathElement[] {
  const path: PathElement[] = []
  const wrong = (what: string): Error =>
    invalidArgument(`${name} ${shown(text)} cannot be read: ${what}; write it like ${example}`)
  for (const element of readKeyPath(text, ends, wrong)) {
    path.push(element)
    checkPartCount(partLimits.pathElements, path.length)
  }
  return path
}
