/** Rollback: ends a transaction without effect. */

import { andThen } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { emptyAnswer } from '../convert/answer-writer.ts'
import { transactionIdOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'

const { RollbackRequest } = google.datastore.v1

export function rollbackHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(RollbackRequest, bytes, 'Rollback')
    const scope = requestScope(request, call)
    const database = engine.database(scope.projectId, scope.databaseId)
    return andThen(database.rollback(call, transactionIdOf(request.transaction)), emptyAnswer)
  }
}
