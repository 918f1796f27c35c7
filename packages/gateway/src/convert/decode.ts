/**
 * Decodes a request message, and names its database. Over HTTP the path has the project, and a body with another one is refused (ours: both of
 * Google's emulators never answer it, measured). Over gRPC only the message counts; routing metadata is not read (measured).
 */

import { DatastoreError, invalidArgument, validateDatabase } from '@sixtables/engine'
import type protobuf from 'protobufjs/minimal.js'
import type { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import type { DatabaseName } from './parameters.ts'
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

/** @returns the defaults for empty parts of keys and partitions in the request */
export function requestScope(request: DatabaseName, { pathProjectId }: Call): DatabaseName {
  const { projectId, databaseId } = request
  if (pathProjectId !== undefined && projectId !== '' && projectId !== pathProjectId) {
    throw invalidArgument(
      `the path names project "${pathProjectId}" and the body project "${projectId}"; leave projectId out of the body, ` +
        'or make them equal',
    )
  }
  const scope = { projectId: projectId === '' ? (pathProjectId ?? '') : projectId, databaseId }
  validateDatabase(scope)
  return scope
}
