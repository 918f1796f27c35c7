/**
 * Keys as they are typed: `ToDo:1`, `User:ada/ToDo:5`, `User:"ada"/ToDo:"12"`, root first; and kinds under a parent, as keys
 * that lack their last id: `ToDo`, `User:ada/ToDo`.
 *
 * The inverse of `formatKey` for complete keys, with one convenience: a name that is not a number and holds
 * neither quotes, slashes, colons nor blanks needs no quotes. A kind with such a character is quoted too.
 *
 * K1  parseKeyPath(formatKey(key)) is the path of `key`, for every complete key whose kinds need no quotes.
 * K2  parseKeyPath(formatKeyPath(path)) is `path`, for every complete path.
 */
import { type DatastoreError, invalidArgument } from '../errors.ts'
import type { PathElement } from './key.ts'

const word = /"(?:[^"\\]|\\.)*"|[^\s"/:]+/y

/**
 * Reads a path of complete elements. Ids are signed 64-bit integers, not 0.
 *
 * @throws DatastoreError INVALID_ARGUMENT that says where the text stops being a key
 */
export function parseKeyPath(text: string): readonly PathElement[] {
  return parsePath(text, 'complete')
}

/** Reads a path whose last element is a kind alone. @throws DatastoreError as {@link parseKeyPath} */
export function parseKindPath(text: string): readonly PathElement[] {
  return parsePath(text, 'kind')
}

/** A path as it can be typed; an element that lacks its id is its kind alone. */
export function formatKeyPath(path: readonly PathElement[]): string {
  return path
    .map(({ kind, id, name }) => {
      const plainKind = /^[A-Za-z_]\w*$/.test(kind) ? kind : JSON.stringify(kind)
      return id === undefined && name === undefined ? plainKind : `${plainKind}:${id ?? JSON.stringify(name)}`
    })
    .join('/')
}

function parsePath(text: string, ends: 'complete' | 'kind'): readonly PathElement[] {
  const wrong = (what: string): DatastoreError => {
    const like = ends === 'complete' ? 'the key' : 'the kind'
    const example = ends === 'complete' ? 'ToDo:1 or User:"ada"/ToDo:5' : 'ToDo or User:"ada"/ToDo'
    return invalidArgument(`${like} ${text} cannot be read: ${what}; write it like ${example}`)
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
      throw wrong(`${found} is not a quoted text`)
    }
  }
  const path: PathElement[] = []
  do {
    if (path.length > 0) at++
    const kind = next('a kind').text
    if (ends === 'kind' && at === text.length) {
      path.push({ kind })
      return path
    }
    if (text[at] !== ':') throw wrong(`after the kind ${kind} comes a colon and an id or a name`)
    at++
    const identifier = next('an id or a name')
    if (!identifier.quoted && /^-?\d+$/.test(identifier.text)) {
      const id = BigInt(identifier.text)
      if (id === 0n || BigInt.asIntN(64, id) !== id) throw wrong(`${identifier.text} is not an id`)
      path.push({ kind, id })
    } else {
      path.push({ kind, name: identifier.text })
    }
  } while (text[at] === '/')
  if (at < text.length) throw wrong(`"${text.slice(at)}" was not expected`)
  if (ends === 'kind') throw wrong('its last element has an id or a name')
  return path
}
