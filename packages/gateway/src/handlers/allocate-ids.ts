/** AllocateIds: completes keys with ids that are never used again. */

import { andThen, decodeKeys, type Key } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { writeAnswer } from '../convert/answer-writer.ts'
import { decodeRequest } from '../convert/decode.ts'
import { requestScope } from '../convert/request-scope.ts'
import type { EnginePort } from '../engine-port.ts'

const { AllocateIdsRequest } = google.datastore.v1

const keysField = 1

export function allocateIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(AllocateIdsRequest, bytes, 'AllocateIds')
    const scope = requestScope(request, call)
    const keys = decodeKeys(bytes, keysField, scope)
    return andThen(engine.database(scope.projectId, scope.databaseId).allocateIds(call, keys), answerOf)
  }
}

/** AllocateIdsResponse: keys 1, in the order of the request. */
function answerOf(keys: readonly Key[]): Buffer {
  return writeAnswer((writer) => {
    for (const key of keys.toReversed()) writer.key(1, key)
  })
}
