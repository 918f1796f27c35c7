/** Decodes a request message. */

import { DatastoreError } from '@sixtables/engine'
import type { Decoder } from '#gen/wire.js'
import type { MethodName } from '../methods.ts'
import { checkMessageLists } from './request-parts.ts'

/** @throws INVALID_ARGUMENT for bytes that are not this method's request, and for lists that are too long */
export function decodeRequest<T>(decoder: Decoder<T>, bytes: Buffer, method: MethodName): T {
  checkMessageLists(method, bytes)
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatastoreError('INVALID_ARGUMENT', `the bytes are not a ${method}Request: ${why}`, { cause })
  }
}
