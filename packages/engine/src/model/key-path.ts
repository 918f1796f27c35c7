/**
 * Keys as a person types them, root first: `ToDo:1`, `User:ada/ToDo:5`, `User:"ada"/ToDo:"12"`; and kinds under a parent,
 * which are keys without the last id: `ToDo`, `User:ada/ToDo`.
 *
 * Parsing the text of formatKey() or formatKeyPath() gives the same path, for complete keys; formatKey() does not quote
 * unusual kinds. A name needs no quotes unless it is a number or contains quotes, slashes, colons or blanks; the same holds
 * for a kind.
 */
import { type DatastoreError, invalidArgument } from '../errors.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import type { PathElement } from './key.ts'

const word = /"(?:[^"\\]|\\.)*"|[^\s"/:]+/y

/**
 * Parses a path of complete elements. Ids are signed 64-bit integers, not 0.
 *
 * @throws DatastoreError INVALID_ARGUMENT with the place where the text stops being a key
 */
export function parseKeyPath(text: string): readonly PathElement[] {
  return parsePath(text, 'complete')
}

/** Parses a path whose last element is a kind alone. @throws DatastoreError like {@link parseKeyPath} */
export function parseKindPath(text: string): readonly PathElement[] {
  return parsePath(text, 'kind')
}

/** The text of a path; an element without an id is its kind alone. */
export function formatKeyPath(path: readonly PathElement[]): string {
  return path
    .map(({ kind, id, name }) => {
      const plainKind = /^[A-Za-z_]\w*$/.test(kind) ? kind : JSON.stringify(kind)
      return id === undefined && name === undefined ? plainKind : `${plainKind}:${id ?? JSON.stringify(name)}`
    })
    .join('/')
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function parsePath(text: string, ends: 'complete' | 'kind'): readonly PathElement[] {
  const wrong = (what: string): DatastoreError => {
    const like = ends === 'complete' ? 'the key' : 'the kind'
    const example = ends === 'complete' ? 'ToDo:1 or User:"ada"/ToDo:5' : 'ToDo or User:"ada"/ToDo'
    return invalidArgument(`${like} ${shown(text)} cannot be read: ${what}; write it like ${example}`)
  }
  let at = 0
  const next = (what: string): { readonly text: string; readonly quoted: boolean } => {
    word.lastIndex = at
    const found = word.exec(text)?.[0]
    if (found === undefined) throw wrong(`${what} is missing at position ${at + 1}`)
    at += found.length
    if (!found.startsWith('"')) return { text: found, quoted: false }
    try {
      return { text: JSON.parse(found), quoted: true }
    } catch {
      throw wrong(`${shown(found)} is not a quoted text`)
    }
  }
  const path: PathElement[] = []
  do {
    if (path.length > 0) at++
    checkPartCount(partLimits.pathElements, path.length + 1)
    const kind = next('a kind').text
    if (ends === 'kind' && at === text.length) {
      path.push({ kind })
      return path
    }
    if (text[at] !== ':') throw wrong(`after the kind ${shown(kind)} comes a colon and an id or a name`)
    at++
    const identifier = next('an id or a name')
    if (!identifier.quoted && /^-?\d+$/.test(identifier.text)) {
      // The first digits of a long one are too many already; all of them would take long to read.
      const id = BigInt(identifier.text.replace(/^(-?)0+(?=\d)/, '$1').slice(0, 21))
      if (id === 0n || BigInt.asIntN(64, id) !== id) throw wrong(`${shown(identifier.text)} is not an id`)
      path.push({ kind, id })
    } else {
      path.push({ kind, name: identifier.text })
    }
  } while (text[at] === '/')
  if (at < text.length) throw wrong(`"${shown(text.slice(at))}" was not expected`)
  if (ends === 'kind') throw wrong('its last element has an id or a name')
  return path
}
