/**
 * JSON parsing and printing where JSON.parse() and JSON.stringify() lose something that proto3 JSON must keep.
 *
 *   parsing    an integer of 16 or more digits becomes a string, which proto3 JSON reads as the same number: JSON.parse() would
 *              round 9007199254740993 to 9007199254740992
 *   printing   two spaces a level and a line break at the end (measured); doubles with a fraction, so that 1.0 and -0.0 differ from 1 and 0
 */
import { isUtf8 } from 'node:buffer'
import { type DatastoreError, invalidArgument } from '@sixtables/engine'
import type { ListLimits } from '../convert/request.ts'
import { type LongInteger, scanJson } from './json-scan.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [name: string]: Json
}

/** Parses JSON in UTF-8. @throws INVALID_ARGUMENT for other text, and for text that json-scan.ts refuses */
export function parseJson(body: Buffer, limits: ListLimits): Json {
  if (!isUtf8(body)) throw notUtf8()
  const text = withQuotes(body, scanJson(body, limits))
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidArgument(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

export function notUtf8(): DatastoreError {
  return invalidArgument('the body is not valid UTF-8')
}

/** The text with quotes around each long integer. */
function withQuotes(body: Buffer, long: readonly LongInteger[]): string {
  if (long.length === 0) return body.toString('utf8')
  let text = ''
  let copied = 0
  for (const { start, end } of long) {
    text += `${body.toString('utf8', copied, start)}"${body.toString('latin1', start, end)}"`
    copied = end
  }
  return text + body.toString('utf8', copied)
}

/** Members of type double. */
const doubles = new Set(['doubleValue', 'latitude', 'longitude'])

/** A double that JSON.stringify() prints without a fraction, and without the sign of -0. */
const wholeDouble = /"(?:doubleValue|latitude|longitude)": -?\d+,?\n/

/** Prints a message as JSON, in the style of answers: that of JSON.stringify() but for whole doubles. */
export function printJson(value: Json): string {
  const text = JSON.stringify(value, undefined, 2)
  return `${wholeDouble.test(text) ? print(value, '\n', '') : text}\n`
}

/** @param lineBreak - a line break and the indentation of the current level */
function print(value: Json, lineBreak: string, name: string): string {
  if (typeof value === 'number') return doubles.has(name) ? printDouble(value) : String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = printMembers(value, `${lineBreak}  `, name)
  return members === '' ? open + close : `${open}${lineBreak}  ${members}${lineBreak}${close}`
}

/** The elements of a list, or the members of an object, without brackets. @param lineBreak - with their indentation */
export function printMembers(value: Json[] | JsonObject, lineBreak: string, name = ''): string {
  const members = Array.isArray(value)
    ? value.map((element) => print(element, lineBreak, name))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${print(member, lineBreak, key)}`)
  return members.join(`,${lineBreak}`)
}

function printDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}
