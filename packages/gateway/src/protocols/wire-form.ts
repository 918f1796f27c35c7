/** How messages and errors look in the body of an HTTP request and its answer: one object per content type. */

import type { MaybePromise } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import type { Status } from './status.ts'

export interface WireForm {
  readonly contentType: string
  /** The bytes of the request message. What takes long gives way to other calls. */
  request(method: MethodName, body: Buffer, call: Call): MaybePromise<Buffer>
  /** The body for an answer message. What takes long gives way to other calls. */
  answer(method: MethodName, message: Buffer, call: Call): MaybePromise<Buffer | string>
  error(status: Status): Buffer | string
}
