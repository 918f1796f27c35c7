/**
 * BeginTransaction: opens a transaction and returns its id. BeginTransactionResponse: transaction 1. Rollback: ends a transaction without effect.
 */
import { andThen } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { emptyAnswer, writeAnswer } from '../convert/answer-writer.ts'
import { transactionIdOf, transactionOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'

const { BeginTransactionRequest, RollbackRequest } = google.datastore.v1

export function beginTransactionHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(BeginTransactionRequest, bytes, 'BeginTransaction')
    const { projectId, databaseId } = requestScope(request, call)
    const options = request.transactionOptions === null ? undefined : transactionOptionsOf(request.transactionOptions)
    const begun = engine.database(projectId, databaseId).beginTransaction(call, options ?? { mode: 'readWrite' })
    return andThen(begun, (transaction) => writeAnswer((writer) => writer.bytes(1, transaction)))
  }
}

export function rollbackHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(RollbackRequest, bytes, 'Rollback')
    const { projectId, databaseId } = requestScope(request, call)
    const database = engine.database(projectId, databaseId)
    return andThen(database.rollback(call, transactionIdOf(request.transaction)), emptyAnswer)
  }
}
