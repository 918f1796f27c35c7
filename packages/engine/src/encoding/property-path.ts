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

/** Parses the path of `what`. INVALID_ARGUMENT for empty, reserved or too many names, and for bad escapes. */
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
  const names = /[\\`]/.test(text) ? escapedNames(text, what) : text.split('.')
  for (const name of names) checkName(name, text, what)
  if (names.length > namesMax) {
    throw invalidArgument(`${labelOf(text, what)} has ${names.length} names, at most ${namesMax} are allowed`)
  }
  return names
}

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

function escapedNames(text: string, what: string): string[] {
  const broken = (why: string): Error =>
    invalidArgument(
      `${labelOf(text, what)} cannot be read: ${why}; ` +
        'in a name write "\\." for a dot and "\\\\" for a backslash, or put the name in back quotes',
    )
  const names: string[] = []
  for (let at = 0; at <= text.length; at++) {
    const isQuoted = text[at] === '`'
    const end = isQuoted ? '`' : '.'
    if (isQuoted) at++
    let name = ''
    for (; text[at] !== end; at++) {
      let letter = text[at]
      if (letter === undefined) {
        if (isQuoted) throw broken('a back quote is not closed')
        break
      }
      if (letter === '\\') {
        letter = text[++at]
        if (letter === undefined) throw broken('it ends in a backslash')
        if (letter !== end && letter !== '\\') throw broken(`a backslash stands before ${JSON.stringify(letter)}`)
      }
      name += letter
    }
    if (isQuoted && ++at < text.length && text[at] !== '.') {
      throw broken('after a quoted name only a dot, or the end, may follow')
    }
    names.push(name)
  }
  return names
}
