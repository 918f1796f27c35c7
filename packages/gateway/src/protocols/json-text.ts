/**
 * JSON as text, where the language's own reader and printer lose something that proto3 JSON must keep.
 *
 *   in    an integer of 16 or more digits becomes a string, which proto3 JSON reads as the same number: as a number it
 *         would be rounded
 *   out   two blanks a level and a line break at the end (measured); doubles with a fraction, so that 1.0 and -0.0 stay what
 *         they are for readers that tell them from 1 and 0
 */
import { invalidArgument } from '@sixtables/engine'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Fewer digits are exact in a double. */
const exactDigitsMax = 15

/** The value of a JSON text; INVALID_ARGUMENT when it is none. */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(/\d{16}/.test(text) ? withQuotedLongIntegers(text) : text)
  } catch (error) {
    throw invalidArgument(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The text with quotes around each long integer outside of strings. */
function withQuotedLongIntegers(text: string): string {
  let result = ''
  let copied = 0
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) {
      at = endOfString(text, at)
    } else if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) {
      const end = endOfNumber(text, at)
      const number = text.slice(at, end)
      if (number.length > exactDigitsMax && /^-?[1-9]\d*$/.test(number)) {
        result += `${text.slice(copied, at)}"${number}"`
        copied = end
      }
      at = end
    } else at++
  }
  return result + text.slice(copied)
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x5c) at++
    else if (unit === 0x22) return at + 1
  }
  return text.length
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && /[\d.eE+-]/.test(text.charAt(at))) at++
  return at
}

/** Members whose numbers are doubles. */
const doubles = new Set(['doubleValue', 'latitude', 'longitude'])

/** The text of a message in JSON, as answers have it. */
export function printJson(value: Json): string {
  return `${print(value, '\n', '')}\n`
}

/** @param lineBreak - a line break and the blanks of the current level */
function print(value: Json, lineBreak: string, name: string): string {
  if (typeof value === 'number') return doubles.has(name) ? printDouble(value) : String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const deeper = `${lineBreak}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[${deeper}${value.map((item) => print(item, deeper, name)).join(`,${deeper}`)}${lineBreak}]`
  }
  const members = Object.entries(value)
  if (members.length === 0) return '{}'
  const lines = members.map(([key, member]) => `${JSON.stringify(key)}: ${print(member, deeper, key)}`)
  return `{${deeper}${lines.join(`,${deeper}`)}${lineBreak}}`
}

/** The text of a double that is finite. */
export function printDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}
