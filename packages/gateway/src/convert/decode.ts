/** Decodes a request message; what is no message of the type is the client's fault. */

import { DatastoreError } from '@sixtables/engine'
import type { Decoder } from '#gen/wire.js'

export function decodeRequest<T>(decoder: Decoder<T>, bytes: Buffer, name: string): T {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatastoreError('INVALID_ARGUMENT', `the bytes are not a ${name}: ${why}`, { cause })
  }
}
