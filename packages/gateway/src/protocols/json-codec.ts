/**
 * Messages of the data API between JSON and bytes, by the descriptors of the published protos. Imported when the first JSON
 * request comes, because it is slow to load.
 *
 *   plain (nearly all)   one pass: json-to-message.ts, json-from-message.ts      a lookup of one key: some 8 µs
 *   any other            the library's message in between, and its refusals      some 30 µs
 *
 * Known: the proto3 JSON mapping. Measured: what both of Google's emulators accept and print.
 */
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { InvariantError, invalidArgument } from '@sixtables/engine'
import type { MethodName } from '../call.ts'
import { jsonListLimits } from '../convert/request-parts.ts'
import { registry } from './descriptors.ts'
import { dataService } from './grpc.ts'
import { plainJson } from './json-from-message.ts'
import { type Json, parseJson, printJson } from './json-text.ts'
import { plainMessage } from './json-to-message.ts'
import { type JsonType, jsonTypeOf } from './json-types.ts'

interface Method {
  readonly input: DescMessage
  readonly output: DescMessage
  readonly inputType: JsonType
  readonly outputType: JsonType
}

const methods = new Map<string, Method>(
  registry.getService(dataService)?.methods.map(({ name, input, output }) => {
    return [name, { input, output, inputType: jsonTypeOf(input), outputType: jsonTypeOf(output) }]
  }) ?? [],
)

function methodOf(name: MethodName): Method {
  const method = methods.get(name)
  if (method === undefined) throw new InvariantError(`the descriptors have no method ${name}`)
  return method
}

/** The request message of a method, from a JSON body. An empty body is an empty message. */
export function requestFromJson(name: MethodName, body: Buffer): Buffer {
  const { input, inputType } = methodOf(name)
  const text = withoutMark(body)
  if (isBlank(text)) return Buffer.alloc(0)
  const json = parseJson(text, jsonListLimits(name))
  const plain = hasHalfSurrogate(text) ? undefined : plainMessage(inputType, json)
  if (plain !== undefined) return plain
  refuseMixedBase64(json)
  try {
    const bytes = toBinary(input, fromJson(input, json, { registry }))
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } catch (error) {
    throw invalidArgument(
      `the body is not a ${input.name} in JSON: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** Half of a character: only an escape can bring it into the text. Halves that belong together are taken for one, too. */
function hasHalfSurrogate(text: Buffer): boolean {
  return text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text.toString('latin1'))
}

const blanks = new Set([0x20, 0x0a, 0x0d, 0x09])

/** Whether there are no other characters than JSON's blanks. */
function isBlank(text: Buffer): boolean {
  let at = 0
  while (blanks.has(text[at] ?? -1)) at++
  return at === text.length
}

const byteOrderMark = Buffer.from('\uFEFF')

function withoutMark(body: Buffer): Buffer {
  return body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? body.subarray(byteOrderMark.length) : body
}

/** The answer message of a method as JSON text, in bytes where it is made at once. */
export function answerToJson(name: MethodName, message: Buffer): Buffer | string {
  const { output, outputType } = methodOf(name)
  const plain = plainJson(outputType, message)
  if (plain !== undefined) return plain
  const json: JsonValue = toJson(output, fromBinary(output, message), { registry })
  return printJson(json)
}

/** Members that hold bytes. As names of properties they stand for messages, never for strings. */
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

/** Base64 is of one alphabet, the standard or the URL-safe one (measured); the decoder below us takes a mix. */
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
