/** BeginTransaction: opens a transaction and returns its id. BeginTransactionResponse: transaction 1. */

import { andThen } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { writeAnswer } from '../convert/answer-writer.ts'
import { transactionOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'

const { BeginTransactionRequest } = google.datastore.v1

export function beginTransactionHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(BeginTransactionRequest, bytes, 'BeginTransaction')
    const scope = requestScope(request, call)
    const options = request.transactionOptions === null ? undefined : transactionOptionsOf(request.transactionOptions)
    const database = engine.database(scope.projectId, scope.databaseId)
    return andThen(database.beginTransaction(call, options ?? { mode: 'readWrite' }), (transaction) =>
      writeAnswer((writer) => writer.bytes(1, transaction)),
    )
  }
}
