/** Requests and answers of the data API, written and read as JSON. */

import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import type { MethodName } from '../../src/methods.ts'
import { registry } from '../../src/protocols/descriptors.ts'
import { answerToJson } from '../../src/protocols/json-codec.ts'

/** Also requests that the server refuses. */
export function request(method: MethodName, json: unknown): Buffer {
  const type = registry.getMessage(`google.datastore.v1.${method}Request`)
  if (type === undefined) throw new Error(`no ${method}Request among the descriptors`)
  return Buffer.from(toBinary(type, fromJson(type, json as JsonValue, { registry })))
}

/** An answer in JSON; `as` says what the test expects it to be. */
export function answer<Shape = unknown>(method: MethodName, message: Buffer): Shape {
  return JSON.parse(String(answerToJson(method, message)))
}

export const lookupOf = (...names: string[]): object => ({
  projectId: 'p',
  keys: names.map((name) => ({ path: [{ kind: 'K', name }] })),
})
