/** ReserveIds: excludes ids from automatic allocation. */

import { andThen, decodeKeys } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { emptyAnswer } from '../convert/answer-writer.ts'
import { decodeRequest } from '../convert/decode.ts'
import { requestScope } from '../convert/request-scope.ts'
import type { EnginePort } from '../engine-port.ts'

const { ReserveIdsRequest } = google.datastore.v1

const keysField = 1

export function reserveIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(ReserveIdsRequest, bytes, 'ReserveIds')
    const scope = requestScope(request, call)
    const keys = decodeKeys(bytes, keysField, scope)
    return andThen(engine.database(scope.projectId, scope.databaseId).reserveIds(call, keys), emptyAnswer)
  }
}
