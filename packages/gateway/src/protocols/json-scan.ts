/**
 * A check of a JSON body before it is parsed: one pass over its bytes that makes no values. It refuses a text that is nested too deep, a list
 * that is too long, and a number beyond doubles such as 1e400, which JSON.parse() would turn into infinity.
 *
 * Whether the text is JSON at all is left to JSON.parse().
 */
import { checkPartCount, invalidArgument } from '@sixtables/engine'
import type { ListLimits } from '../convert/request.ts'

/** Messages nest at most 100 deep, as in the wire format; in JSON each may be in an object and in a list. */
export const depthMax = 200

/** Numbers with up to this many digits are exact in a double. */
const exactDigitsMax = 15
/** 1e309, the shortest number beyond doubles, has this many bytes. */
const conspicuousBytesMin = 5

export const quote = 0x22
export const comma = 0x2c
export const openList = 0x5b
export const closeList = 0x5d
export const openObject = 0x7b
export const closeObject = 0x7d
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const backslash = 0x5c

/** An object or a list that has not ended. */
export interface Level {
  /** Position of its member name, without quotes; empty for the elements of a list. */
  readonly nameStart: number
  readonly nameEnd: number
  commas: number
}

/** The position of an integer that a double may round. */
export interface LongInteger {
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

/** @throws INVALID_ARGUMENT for a list with more elements than its name allows */
export function checkMembers(bytes: Buffer, { nameStart, nameEnd, commas }: Level, limits: ListLimits): void {
  if (commas === 0 || nameStart === nameEnd) return
  const limit = limits.get(bytes.toString('latin1', nameStart, nameEnd))
  if (limit !== undefined) checkPartCount(limit, commas + 1)
}

/** Position of the quote that closes the string whose quote is at `start`; the end of a body without one. */
export function endOfString(body: Buffer, start: number): number {
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
