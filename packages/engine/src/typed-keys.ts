/**
 * Keys as a person types them, root first: `ToDo:1`, `User:ada/ToDo:5`, `User:"ada"/ToDo:"12"`; and kinds under a parent, which are keys
 * without the last id: `ToDo`, `User:ada/ToDo`. The command line, the endpoints and the console read them by this file. It imports nothing
 * that runs, so a browser has it too.
 *
 * A name needs no quotes unless it is a number or contains quotes, slashes, colons or blanks; the same holds for a kind. Reading what
 * {@link formatKeyPath} gives gives the same path.
 */
import type { PathElement } from './model/key.ts'

const word = /"(?:[^"\\]|\\.)*"|[^\s"/:]+/y

/** An element of a path; ids may be decimal texts, as in JSON. */
interface Printable {
  readonly kind: string
  readonly id?: bigint | string | undefined
  readonly name?: string | undefined
}

/** The text of a path; an element without an id is its kind alone. */
export function formatKeyPath(path: readonly Printable[]): string {
  return path
    .map(({ kind, id, name }) => {
      const plainKind = /^[A-Za-z_]\w*$/.test(kind) ? kind : JSON.stringify(kind)
      return id === undefined && name === undefined ? plainKind : `${plainKind}:${id ?? JSON.stringify(name)}`
    })
    .join('/')
}

export function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/**
 * Reads the elements of a path. Ids are signed 64-bit integers, not 0.
 *
 * @param ends - whether the last element is complete, is a kind alone, or either
 * @param wrong - the error to throw, with the place where the text stops being a path
 */
export function* readKeyPath(
  text: string,
  ends: 'complete' | 'kind' | 'either',
  wrong: (what: string) => Error,
): Generator<PathElement> {
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
  for (;;) {
    const kind = next('a kind').text
    if (ends !== 'complete' && at === text.length) return yield { kind }
    if (text[at] !== ':') throw wrong(`after the kind ${shown(kind)} comes a colon and an id or a name`)
    at++
    const identifier = next('an id or a name')
    if (identifier.quoted || !/^-?\d+$/.test(identifier.text)) yield { kind, name: identifier.text }
    else {
      // The first digits of a long one are too many already; all of them would take long to read.
      const id = BigInt(identifier.text.replace(/^(-?)0+(?=\d)/, '$1').slice(0, 21))
      if (id === 0n || BigInt.asIntN(64, id) !== id) throw wrong(`${shown(identifier.text)} is not an id`)
      yield { kind, id }
    }
    if (text[at] !== '/') break
    at++
  }
  if (at < text.length) throw wrong(`"${shown(text.slice(at))}" was not expected`)
  if (ends === 'kind') throw wrong('its last element has an id or a name')
}
