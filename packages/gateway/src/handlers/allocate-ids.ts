/** AllocateIds: completes keys with ids that are never given again. */

import { andThen, decodeKey, type Key } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { writeAnswer } from '../convert/answer-writer.ts'
import { decodeRequest } from '../convert/decode.ts'
import { type RequestScope, requestScope } from '../convert/request-scope.ts'
import type { EnginePort } from '../engine-port.ts'

const { AllocateIdsRequest } = google.datastore.v1

export function allocateIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(AllocateIdsRequest, bytes, 'AllocateIds')
    const scope = requestScope(request, call)
    const keys = decodeKeys(request.keys, scope)
    return andThen(engine.database(scope.projectId, scope.databaseId).allocateIds(call, keys), answerOf)
  }
}

/** Keys of one request are mostly the same one, often: it is decoded, and validated, once. */
function decodeKeys(messages: readonly Uint8Array[], scope: RequestScope): Key[] {
  let bytes: Uint8Array | undefined
  let key: Key | undefined
  return messages.map((message) => {
    if (key === undefined || bytes === undefined || Buffer.compare(bytes, message) !== 0) {
      key = decodeKey(message, scope)
      bytes = message
    }
    return key
  })
}

/** AllocateIdsResponse: keys 1, in the order of the request. */
function answerOf(keys: readonly Key[]): Buffer {
  return writeAnswer((writer) => {
    for (const key of keys.toReversed()) writer.key(1, key)
  })
}
