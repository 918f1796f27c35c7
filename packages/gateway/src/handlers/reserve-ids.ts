/** ReserveIds: excludes ids from automatic allocation. */

import { andThen } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { emptyAnswer } from '../convert/answer-writer.ts'
import { readKeys } from '../convert/request-keys.ts'
import type { EnginePort } from '../engine-port.ts'

const method = { name: 'ReserveIds', decoder: google.datastore.v1.ReserveIdsRequest, field: 1 } as const

export function reserveIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) =>
    andThen(readKeys(method, bytes, call), ({ scope, keys }) =>
      andThen(engine.database(scope.projectId, scope.databaseId).reserveIds(call, keys), emptyAnswer),
    )
}
