/**
 * Conversion of the data API's messages between JSON and bytes, by the descriptors of the published protos. They load slowly, so the
 * first JSON request imports this file.
 *
 *   {"integerValue": "5"}  ◀─▶  10 05     field 2 of Value, a varint: an integer of 64 bits is a string in JSON
 *
 * Known: the proto3 JSON mapping. Measured: the JSON that both of Google's emulators accept and print.
 */

import { type DescMessage, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf'
import { InvariantError, invalidArgument, type RequestContext } from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'
import { cutMessage, forEachPiece, wholeBytesMax } from '../convert/pieces.ts'
import { jsonListLimits } from '../convert/request-parts.ts'
import { dataService, type MethodName } from '../methods.ts'
import { registry } from './descriptors.ts'
import { type Json, type Printable, type PrintableObject, PrintedJson, parseJson, printJson } from './json-text.ts'

interface Method {
  readonly input: DescMessage
  readonly output: DescMessage
}

const methods = new Map<string, Method>(
  registry.getService(dataService)?.methods.map(({ name, input, output }) => [name, { input, output }]) ?? [],
)

function methodOf(name: MethodName): Method {
  const method = methods.get(name)
  if (method === undefined) throw new InvariantError(`the descriptors have no method ${name}`)
  return method
}

/** The request message of a JSON body. An empty body is an empty message. */
export function requestFromJson(name: MethodName, body: Buffer): Buffer {
  const { input } = methodOf(name)
  const text = withoutMark(body)
  if (isBlank(text)) return Buffer.alloc(0)
  const json = parseJson(text, jsonListLimits(name))
  refuseMixedBase64(json)
  try {
    const bytes = toBinary(input, fromJson(input, json, { registry }))
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } catch (error) {
    throw invalidArgument(`the body is not a ${input.name} in JSON: ${inWords(error)}`)
  }
}

/** The decoder's reason in our words: its own calls a text "out of range", and does not list the values of an enum. */
function inWords(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  const [, name = ''] = /^cannot decode enum (\S+) from JSON/.exec(said) ?? []
  const values = registry.getEnum(name)?.values.filter(({ number }) => number !== 0) ?? []
  if (values.length > 0) return `${said}; use ${values.map((value) => value.name).join(' or ')}`
  return said.replace(
    /expected bigint \((\w+)\): (?!-?\d+ out of range$)(.*) out of range$/s,
    'expected a whole number ($1), got "$2"',
  )
}

const blanks = new Set([0x20, 0x0a, 0x0d, 0x09])

/** Whether the text has only JSON whitespace. */
function isBlank(text: Buffer): boolean {
  let at = 0
  while (blanks.has(text[at] ?? -1)) at++
  return at === text.length
}

const byteOrderMark = Buffer.from('\uFEFF')

function withoutMark(body: Buffer): Buffer {
  return body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? body.subarray(byteOrderMark.length) : body
}

/** The one list of an answer that can be long, as a path of field names. */
const longLists: Partial<Record<MethodName, readonly string[]>> = {
  Lookup: ['found'],
  RunQuery: ['batch', 'entityResults'],
  Commit: ['mutationResults'],
  AllocateIds: ['keys'],
}
export function requestMessageToJson(name: MethodName, message: Buffer): string {
  return printJson(jsonOf(methodOf(name).input, message))
}
export function answerToJson(name: MethodName, message: Buffer): string {
  return printJson(jsonOf(methodOf(name).output, message))
}

/** The same for a long message, in steps between which other calls run. */
export async function longAnswerToJson(name: MethodName, message: Buffer, context: RequestContext): Promise<string> {
  const path = longLists[name]
  if (path === undefined) return answerToJson(name, message)
  return printJson(await jsonInPieces(context, methodOf(name).output, message, path))
}

function jsonOf(type: DescMessage, message: Uint8Array): PrintableObject {
  return toJson(type, fromBinary(type, message), { registry }) as PrintableObject
}

/** The map of a large result: an entity may have tens of thousands of properties. */
const longMaps: Partial<Record<string, readonly string[]>> = {
  'google.datastore.v1.EntityResult': ['entity', 'properties'],
}

/**
 * A message as JSON. The elements of the list or map at `path` are decoded and printed piece by piece, a large element in pieces of its own.
 *
 * @param depth - levels of its members in the text
 */
async function jsonInPieces(
  context: RequestContext,
  type: DescMessage,
  message: Buffer,
  [name = '', ...path]: readonly string[],
  depth = 1,
): Promise<PrintableObject> {
  const field = type.field[name]
  if (field === undefined) throw new InvariantError(`${type.typeName} has no field ${name}`)
  const { rest, pieces } = await cutMessage(context, message, field.number)
  const json = jsonOf(type, rest)
  if (pieces[0] === undefined) return json
  if (field.fieldKind === 'message') {
    const reader = protobuf.Reader.create(pieces[0])
    reader.uint32()
    json[name] = await jsonInPieces(context, field.message, reader.bytes() as Buffer, path, depth + 1)
    return json
  }
  if (field.fieldKind === 'map') {
    const entries: [string, PrintedJson][] = []
    await forEachPiece(context, pieces, (piece) => {
      for (const [key, value] of Object.entries(jsonOf(type, piece)[name] as PrintableObject)) {
        entries.push([key, new PrintedJson(value, depth + 1)])
      }
    })
    json[name] = Object.fromEntries(entries)
    return json
  }
  const elements: PrintedJson[] = []
  const { message: elementType } = field
  const inside = longMaps[elementType?.typeName ?? '']
  await forEachPiece(context, pieces, async (piece) => {
    if (piece.length <= wholeBytesMax || elementType === undefined || inside === undefined) {
      for (const element of jsonOf(type, piece)[name] as Printable[]) elements.push(new PrintedJson(element, depth + 1))
      return
    }
    const reader = protobuf.Reader.create(piece)
    while (reader.pos < reader.len) {
      reader.uint32()
      const element = await jsonInPieces(context, elementType, reader.bytes() as Buffer, inside, depth + 2)
      elements.push(new PrintedJson(element, depth + 1))
    }
  })
  json[name] = elements
  return json
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

/** Refuses base64 that mixes the standard and the URL-safe alphabet (measured); the library's decoder accepts it. */
function refuseMixedBase64(json: Json): void {
  if (json === null || typeof json !== 'object') return
  if (Array.isArray(json)) {
    for (const item of json) refuseMixedBase64(item)
    return
  }
  for (const [name, member] of Object.entries(json)) {
    if (typeof member !== 'string') refuseMixedBase64(member)
    else if (bytesMembers.has(name) && /[+/]/.test(member) && /[-_]/.test(member)) {
      throw invalidArgument(`"${name}" mixes both base64 alphabets; use + and / or - and _`)
    }
  }
}
