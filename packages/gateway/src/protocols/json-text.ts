/**
 * JSON parsing and printing where JSON.parse() and JSON.stringify() lose something that proto3 JSON must keep.
 *
 *   parsing    an integer of 16 or more digits becomes a string, which proto3 JSON reads as the same number: JSON.parse() would
 *              round 9007199254740993 to 9007199254740992
 *   checking   one pass over the bytes before any value is made refuses what is nested too deep, a list that is too long, and a number
 *              beyond doubles such as 1e400, which JSON.parse() would turn into infinity
 *   printing   two spaces a level and a line break at the end (measured); doubles with a fraction, so that 1.0 and -0.0 differ from 1 and 0
 */
import { isUtf8 } from 'node:buffer'
import { checkPartCount, invalidArgument } from '@sixtables/engine'
import type { ListLimits } from '../convert/request.ts'
import { reasonOf } from '../reason.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [name: string]: Json
}

/** Parses JSON in UTF-8. @throws INVALID_ARGUMENT for other text, and for text that {@link scanJson} refuses */
export function parseJson(body: Buffer, limits: ListLimits): Json {
  if (!isUtf8(body)) throw invalidArgument('the body is not valid UTF-8')
  const text = withQuotes(body, scanJson(body, limits))
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidArgument(`the body is not JSON: ${reasonOf(error)}`)
  }
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
  const inside = `${lineBreak}  `
  const members = Array.isArray(value)
    ? value.map((element) => print(element, inside, name))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${print(member, inside, key)}`)
  return members.length === 0 ? open + close : `${open}${inside}${members.join(`,${inside}`)}${lineBreak}${close}`
}

function printDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}

/** Messages nest at most 100 deep, as in the wire format; in JSON each may be in an object and in a list. */
const depthMax = 200

/** Numbers with up to this many digits are exact in a double. */
const exactDigitsMax = 15
/** 1e309, the shortest number beyond doubles, has this many bytes. */
const conspicuousBytesMin = 5

const quote = 0x22
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const backslash = 0x5c

/** An object or a list that has not ended. */
interface Level {
  /** Position of its member name, without quotes; empty for the elements of a list. */
  readonly nameStart: number
  readonly nameEnd: number
  commas: number
}

/** The position of an integer that a double may round. */
interface LongInteger {
  readonly start: number
  readonly end: number
}

/** The long integers of a JSON text. @throws INVALID_ARGUMENT for a text that it refuses */
export function scanJson(bytes: Buffer, limits: ListLimits): readonly LongInteger[] {
  const long: LongInteger[] = []
  const levels: Level[] = []
  const all = limits.get('')
  let commas = 0
  let nameStart = 0
  let nameEnd = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      nameStart = at + 1
      at = endOfString(bytes, at)
      nameEnd = at
    } else if (byte === comma) {
      const level = levels.at(-1)
      if (level !== undefined) level.commas++
      if (all !== undefined) checkPartCount(all, ++commas)
      nameEnd = nameStart
    } else if (byte === openList || byte === openObject) {
      if (levels.length === depthMax) throw invalidArgument(`the body is nested deeper than ${depthMax} levels`)
      levels.push({ nameStart, nameEnd, commas: 0 })
      nameEnd = nameStart
    } else if (byte === closeList || byte === closeObject) {
      const level = levels.pop()
      if (level !== undefined) checkMembers(bytes, level, limits)
    } else if (byte === minus || (byte >= zero && byte <= nine)) {
      const end = endOfNumber(bytes, at)
      if (end - at >= conspicuousBytesMin && isLongInteger(bytes.toString('latin1', at, end))) {
        long.push({ start: at, end })
      }
      at = end - 1
    }
  }
  return long
}

function checkMembers(bytes: Buffer, { nameStart, nameEnd, commas }: Level, limits: ListLimits): void {
  if (commas === 0 || nameStart === nameEnd) return
  const limit = limits.get(bytes.toString('latin1', nameStart, nameEnd))
  if (limit !== undefined) checkPartCount(limit, commas + 1)
}

/** Position of the quote that closes the string whose quote is at `start`; the end of a body without one. */
function endOfString(body: Buffer, start: number): number {
  const first = body.indexOf(quote, start + 1)
  if (first < 0) return body.length
  if (body[first - 1] !== backslash) return first
  for (let at = start + 1; at < body.length; at++) {
    const byte = body[at]
    if (byte === backslash) at++
    else if (byte === quote) return at
  }
  return body.length
}

function endOfNumber(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const isPart = (byte >= zero && byte <= nine) || byte === 0x2e || byte === 0x2b || byte === minus
    if (!isPart && byte !== 0x65 && byte !== 0x45) return at
  }
  return bytes.length
}

/** Whether a double may round the number. @throws INVALID_ARGUMENT if it is beyond doubles */
function isLongInteger(number: string): boolean {
  // JSON.parse() refuses a text that is no number at all.
  if (Math.abs(Number(number)) === Number.POSITIVE_INFINITY) {
    const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number
    throw invalidArgument(`the number ${shown} is out of the range of doubles`)
  }
  return number.length > exactDigitsMax && /^-?[1-9]\d*$/.test(number)
}
