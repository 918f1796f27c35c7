/**
 * Messages of the data API between JSON and bytes, by the descriptors of the published protos. Imported when the first JSON
 * request comes, because it is slow to load.
 *
 * Known: the proto3 JSON mapping. Measured: what both of Google's emulators accept and print.
 */
import { type DescMethod, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { InvariantError, invalidArgument } from '@sixtables/engine'
import type { MethodName } from '../call.ts'
import { registry } from './descriptors.ts'
import { dataService } from './grpc.ts'
import { type Json, parseJson, printJson } from './json-text.ts'

const methods = new Map<string, DescMethod>(
  registry.getService(dataService)?.methods.map((method) => [method.name, method]) ?? [],
)

function methodOf(name: MethodName): DescMethod {
  const method = methods.get(name)
  if (method === undefined) throw new InvariantError(`the descriptors have no method ${name}`)
  return method
}

/** The request message of a method, from a JSON body. An empty body is an empty message. */
export function requestFromJson(name: MethodName, body: Buffer): Buffer {
  const { input } = methodOf(name)
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  if (text.trim() === '') return Buffer.alloc(0)
  const json = parseJson(text)
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

/** The answer message of a method as JSON text. */
export function answerToJson(name: MethodName, message: Buffer): string {
  const { output } = methodOf(name)
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
