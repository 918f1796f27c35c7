/** Decodes a request message. */

import { DatastoreError } from '@sixtables/engine'
import type protobuf from 'protobufjs/minimal.js'
import type { MethodName } from '../methods.ts'
import { checkMessageLists, readerOf } from './request-parts.ts'

/** The generated decoders read bytes, or a reader of them. */
interface RequestDecoder<T> {
  decode(bytes: Uint8Array | protobuf.Reader): T
}

/** @throws INVALID_ARGUMENT for bytes that are not this method's request, and for lists that are too long */
export function decodeRequest<T>(decoder: RequestDecoder<T>, bytes: Buffer, method: MethodName): T {
  checkMessageLists(method, bytes)
  try {
    return decoder.decode(readerOf(bytes))
  } catch (cause) {
    if (cause instanceof DatastoreError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatastoreError('INVALID_ARGUMENT', `the bytes are not a ${method}Request: ${why}`, { cause })
  }
}
