/**
 * The forms of messages and errors in HTTP bodies, one object for each content type. Handlers take and give protobuf messages:
 *
 *   application/json         {"keys": [ … ]} ─▶ LookupRequest ─▶ handler ─▶ LookupResponse ─▶ {"found": [ … ]}     http-json.ts
 *   application/x-protobuf   the bytes of both messages as they are                                                http-protobuf.ts
 */

import type { MaybePromise } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import type { Status } from './status.ts'

export interface WireForm {
  readonly contentType: string
  /** Decodes the request message. Long work gives way to other calls. */
  request(method: MethodName, body: Buffer, call: Call): MaybePromise<Buffer>
  /** Encodes an answer message. Long work gives way to other calls. */
  answer(method: MethodName, message: Buffer, call: Call): MaybePromise<Buffer | string>
  error(status: Status): Buffer | string
}
