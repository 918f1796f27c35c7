/** How messages and errors look in the body of an HTTP request and its answer: one object per content type. */
import type { MaybePromise } from '@sixtables/engine'
import type { MethodName } from '../call.ts'
import type { Status } from './status.ts'

export interface WireForm {
  readonly contentType: string
  /** The bytes of the request message. */
  request(method: MethodName, body: Buffer): MaybePromise<Buffer>
  /** The body for an answer message. */
  answer(method: MethodName, message: Buffer): MaybePromise<Buffer | string>
  error(status: Status): Buffer | string
}
