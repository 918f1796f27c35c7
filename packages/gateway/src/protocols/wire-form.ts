/**
 * The forms of messages and errors in HTTP bodies, one object for each content type. Handlers take and give protobuf messages:
 *
 *   application/json         {"keys": [ … ]} ─▶ LookupRequest ─▶ handler ─▶ LookupResponse ─▶ {"found": [ … ]}     http-json.ts
 *   application/x-protobuf   the bytes of both messages as they are, errors are google.rpc.Status
 */

import { DatastoreError, limits, type MaybePromise } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import { protobufErrorOf, type Status } from './status.ts'

export interface WireForm {
  readonly contentType: string
  /** Decodes the request message. Long work gives way to other calls. */
  request(method: MethodName, body: Buffer, call: Call): MaybePromise<Buffer>
  /** Encodes an answer message. Long work gives way to other calls. */
  answer(method: MethodName, message: Buffer, call: Call): MaybePromise<Buffer | string | readonly Buffer[]>
  error(status: Status): Buffer | string
}

export const protobufForm: WireForm = {
  contentType: 'application/x-protobuf',
  request: (_method, body) => body,
  answer: (_method, message) => message,
  error: protobufErrorOf,
}

/** Refuses a message above the API's limit, also if its JSON or compressed body was smaller. */
export function checkMessageSize(message: Buffer): void {
  if (message.length > limits.requestBytesMax) throw tooLarge(message.length, 'the request')
}

export function tooLarge(bytes: number, what: string): DatastoreError {
  return new DatastoreError(
    'RESOURCE_EXHAUSTED',
    `${what} has ${bytes} bytes, at most ${limits.requestBytesMax} are allowed; split the request`,
    { retry: 'never' },
  )
}
