/** Requests and answers of the data API, written and read as JSON. */
import type { MethodName } from '../../src/call.ts'
import { answerToJson, requestFromJson } from '../../src/protocols/json-codec.ts'

export function request(method: MethodName, json: unknown): Buffer {
  return requestFromJson(method, Buffer.from(JSON.stringify(json)))
}

/** An answer in JSON; `as` says what the test expects it to be. */
export function answer<Shape = unknown>(method: MethodName, message: Buffer): Shape {
  return JSON.parse(String(answerToJson(method, message)))
}

export const lookupOf = (...names: string[]): object => ({
  projectId: 'p',
  keys: names.map((name) => ({ path: [{ kind: 'K', name }] })),
})
