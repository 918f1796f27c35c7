/** AllocateIds: completes keys with ids that are never used again. */

import { andThen } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { writeAnswer } from '../convert/answer-writer.ts'
import { writeInPieces } from '../convert/pieces.ts'
import { readKeys } from '../convert/request-keys.ts'
import type { EnginePort } from '../engine-port.ts'

const method = { name: 'AllocateIds', decoder: google.datastore.v1.AllocateIdsRequest, field: 1 } as const

/** AllocateIdsResponse: keys 1, in the order of the request. */
export function allocateIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) =>
    andThen(readKeys(method, bytes, call), ({ scope, keys }) =>
      andThen(engine.database(scope.projectId, scope.databaseId).allocateIds(call, keys), (completed) =>
        writeInPieces(call, completed, (part) =>
          writeAnswer((writer) => {
            for (const key of part.toReversed()) writer.key(1, key)
          }),
        ),
      ),
    )
}
