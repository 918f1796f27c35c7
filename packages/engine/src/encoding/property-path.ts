/**
 * Property paths, which name properties in masks and transforms.
 *
 *   path     name ( "." name )*                        `address.city` = the property city in the embedded entity address
 *   name     letters; "." and "\" are escaped by a "\" before them
 *   name     "`" letters "`"; "`" and "\" are escaped by a "\" before them
 *
 * parsePropertyPath(formatPropertyPath(path)) gives the same names. Known: the escapes (comments of google.datastore.v1). Measured: each of
 * Google's emulators reads one form of a name, here both are read; at most 20 names in a mask, 21 in a transform.
 */
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { isReserved } from './validate-key.ts'
import { shorten } from './value-slot.ts'

/** Names from the outermost property inwards; at least one. */
export type PropertyPath = readonly string[]

/**
 * Parses a path.
 *
 * @param what - its name in error messages: `the property mask`
 * @throws DatastoreError INVALID_ARGUMENT for an empty path or name, a bad escape, a reserved name, and too many names
 */
export function parsePropertyPath(
  text: string,
  what: string,
  namesMax: number = limits.embeddedEntityDepthMax,
): PropertyPath {
  if (text === '')
    throw invalidArgument(
      `${what} has an empty path; name a property, or one in another as outer.inner`,
      'Invalid empty property path string.',
    )
  const names = /[\\`]/.test(text) ? new PathReader(text, what).names() : text.split('.')
  for (const name of names) checkName(name, text, what)
  if (names.length > namesMax) {
    throw invalidArgument(`${labelOf(text, what)} has ${names.length} names, at most ${namesMax} are allowed`)
  }
  return names
}

/** The text of a path. */
export function formatPropertyPath(path: PropertyPath): string {
  return path
    .map((name) =>
      name.startsWith('`') ? `\`${name.replaceAll(/[`\\]/g, '\\$&')}\`` : name.replaceAll(/[.\\]/g, '\\$&'),
    )
    .join('.')
}

function labelOf(text: string, what: string): string {
  return `${what}: the path ${JSON.stringify(shorten(text))}`
}

function checkName(name: string, text: string, what: string): void {
  if (name === '') throw invalidArgument(`${labelOf(text, what)} has an empty name in it`)
  if (isReserved(name)) throw invalidArgument(`${labelOf(text, what)}: names like __this__ are reserved`)
  if (name.length * 3 > limits.propertyNameBytesMax && Buffer.byteLength(name) > limits.propertyNameBytesMax) {
    throw invalidArgument(
      `${labelOf(text, what)} has a name of ${Buffer.byteLength(name)} bytes, ` +
        `at most ${limits.propertyNameBytesMax} are allowed`,
    )
  }
}

class PathReader {
  readonly #text: string
  readonly #what: string
  #at = 0

  constructor(text: string, what: string) {
    this.#text = text
    this.#what = what
  }

  names(): string[] {
    const names: string[] = []
    for (;;) {
      names.push(this.#text[this.#at] === '`' ? this.#quoted() : this.#plain())
      if (this.#at >= this.#text.length) return names
      this.#at++
    }
  }

  /** A name without quotes, up to the next dot or the end. */
  #plain(): string {
    let name = ''
    for (; this.#at < this.#text.length; this.#at++) {
      const letter = this.#text[this.#at] as string
      if (letter === '.') break
      name += letter === '\\' ? this.#escaped('.\\') : letter
    }
    return name
  }

  #quoted(): string {
    let name = ''
    for (this.#at++; this.#text[this.#at] !== '`'; this.#at++) {
      const letter = this.#text[this.#at]
      if (letter === undefined) throw this.#broken('a back quote is not closed')
      name += letter === '\\' ? this.#escaped('`\\') : letter
    }
    this.#at++
    if (this.#at < this.#text.length && this.#text[this.#at] !== '.') {
      throw this.#broken('after a quoted name only a dot, or the end, may follow')
    }
    return name
  }

  /** The letter behind the backslash at the current position. */
  #escaped(allowed: string): string {
    const letter = this.#text[++this.#at]
    if (letter === undefined) throw this.#broken('it ends in a backslash')
    if (!allowed.includes(letter)) throw this.#broken(`a backslash stands before ${JSON.stringify(letter)}`)
    return letter
  }

  #broken(why: string): Error {
    return invalidArgument(
      `${labelOf(this.#text, this.#what)} cannot be read: ${why}; ` +
        'in a name write "\\." for a dot and "\\\\" for a backslash, or put the name in back quotes',
    )
  }
}
