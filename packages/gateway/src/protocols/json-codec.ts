/**
 * Conversion of the data API's messages between JSON and bytes, by the descriptors of the published protos. They load slowly, so the
 * first JSON request imports this file.
 *
 *   {"integerValue": "5"}  ◀─▶  10 05     field 2 of Value, a varint: an integer of 64 bits is a string in JSON
 *
 * Known: the proto3 JSON mapping. Measured: the JSON that both of Google's emulators accept and print.
 */

import { type DescMessage, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf'
import { InvariantError, invalidArgument, limits } from '@sixtables/engine'
import { jsonListLimits, type ListLimits } from '../convert/request.ts'
import { dataService, type MethodName } from '../methods.ts'
import { registry } from './descriptors.ts'
import { type Json, type JsonObject, parseJson, printJson } from './json-text.ts'

interface Method {
  readonly input: DescMessage
  readonly output: DescMessage
  readonly limits: ListLimits
}

const methods = new Map<string, Method>(
  registry
    .getService(dataService)
    ?.methods.map(({ name, input, output }) => [name, { input, output, limits: jsonListLimits(name as MethodName) }]) ??
    [],
)

function methodOf(name: MethodName): Method {
  const method = methods.get(name)
  if (method === undefined) throw new InvariantError(`the descriptors have no method ${name}`)
  return method
}

/** The request message of a JSON body. An empty body is an empty message. @throws INVALID_ARGUMENT */
export function requestFromJson(name: MethodName, body: Buffer): Buffer {
  const text = withoutMark(body)
  if (isBlank(text)) return Buffer.alloc(0)
  const { input, limits: lists } = methodOf(name)
  const json = parseJson(text, lists)
  checkStrings(json)
  try {
    const { buffer, byteOffset, byteLength } = toBinary(input, fromJson(input, json, { registry }))
    return Buffer.from(buffer, byteOffset, byteLength)
  } catch (error) {
    throw invalidArgument(`the body is not a ${input.name} in JSON: ${inWords(error)}`)
  }
}

/** Whether there is only JSON whitespace. */
function isBlank(text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false
  }
  return true
}

/** The reason has texts of the body in it, whatever their length. */
const reasonCharsMax = 1000

/** The decoder's reason in our words: its own calls a text "out of range", and does not list the values of an enum. */
function inWords(error: unknown): string {
  const all = error instanceof Error ? error.message : String(error)
  const said = all.length > reasonCharsMax ? `${all.slice(0, reasonCharsMax)}…` : all
  const [, name = ''] = /^cannot decode enum (\S+) from JSON/.exec(said) ?? []
  const values = registry.getEnum(name)?.values.filter(({ number }) => number !== 0) ?? []
  if (values.length > 0) return `${said}; use ${values.map((value) => value.name).join(' or ')}`
  if (said.startsWith('cannot decode message google.datastore.v1.Value from JSON:'))
    return `${said}; a value is written with its type, such as {"integerValue": "1"} or {"stringValue": "a"}`
  return said.replace(
    /expected bigint \((\w+)\): (?!-?\d+ out of range$)(.*) out of range$/s,
    'expected a whole number ($1), got "$2"',
  )
}

const byteOrderMark = Buffer.from('\uFEFF')

function withoutMark(body: Buffer): Buffer {
  return body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? body.subarray(byteOrderMark.length) : body
}

export function requestMessageToJson(name: MethodName, message: Buffer): string {
  return printJson(jsonOf(methodOf(name).input, message))
}
export function answerToJson(name: MethodName, message: Buffer): string {
  return printJson(jsonOf(methodOf(name).output, message))
}

function jsonOf(type: DescMessage, message: Uint8Array): JsonObject {
  return toJson(type, fromBinary(type, message), { registry }) as JsonObject
}

/** Members of type bytes. A property may have the same name, but its value is an object, never a string. */
const bytesMembers = new Set([
  'blobValue',
  'blob_value',
  'transaction',
  'previousTransaction',
  'previous_transaction',
  'startCursor',
  'start_cursor',
  'endCursor',
  'end_cursor',
  'cursor',
])

/** Twice as long as an entity, so that base64 of a value has room for line breaks. */
const base64CharsMax = 2 * limits.entityBytesMax

/** Members of 64-bit integers in requests, which may be strings. */
const integerMembers = new Set(['id', 'integerValue', 'integer_value', 'upTo', 'up_to', 'baseVersion', 'base_version'])
/** Reading a million digits takes a fifth of a second. Zeros may stand before the 19 that count. */
const integerCharsMax = 1000

/**
 * Refuses strings that take long to read and are no valid value, and base64 that mixes the standard and the URL-safe alphabet (measured). The
 * library's decoder accepts them.
 */
function checkStrings(json: Json): void {
  if (json === null || typeof json !== 'object') return
  if (Array.isArray(json)) {
    for (const item of json) checkStrings(item)
    return
  }
  for (const [name, member] of Object.entries(json)) {
    if (typeof member !== 'string') checkStrings(member)
    else if (integerMembers.has(name)) checkLength(name, member, integerCharsMax)
    else if (bytesMembers.has(name)) {
      checkLength(name, member, base64CharsMax)
      if (/[+/]/.test(member) && /[-_]/.test(member)) {
        throw invalidArgument(`"${name}" mixes both base64 alphabets; use + and / or - and _`)
      }
    }
  }
}

function checkLength(name: string, { length }: string, max: number): void {
  if (length > max) throw invalidArgument(`"${name}" has ${length} characters; at most ${max} are allowed`)
}
