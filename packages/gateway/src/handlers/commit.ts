/** Commit: applies mutations. Only the message's form is checked here; the engine checks whether mode and transaction fit. */

import {
  andThen,
  type CommitRequest,
  type CommitResult,
  encodeValue,
  invalidArgument,
  type MaybePromise,
  type Mutation,
} from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Call, Handler } from '../call.ts'
import { type AnswerWriter, writeAnswer } from '../convert/answer-writer.ts'
import { mutationOf } from '../convert/mutation.ts'
import type { DatabaseName } from '../convert/parameters.ts'
import { cutMessage, forEachPiece, wholeBytesMax, writeInPieces } from '../convert/pieces.ts'
import { transactionIdOf, transactionOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'

const decoder = google.datastore.v1.CommitRequest

const transactional = 1
const nonTransactional = 2
export interface ScopedCommit {
  readonly scope: DatabaseName
  readonly commit: CommitRequest
}

export function commitHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    return andThen(readCommit(bytes, call), ({ scope, commit }) =>
      andThen(engine.database(scope.projectId, scope.databaseId).commit(call, commit), (result) =>
        answerOf(call, result),
      ),
    )
  }
}

/** @param bytes - a CommitRequest */
export function readCommit(bytes: Buffer, call: Call): MaybePromise<ScopedCommit> {
  return bytes.length <= wholeBytesMax ? wholeCommit(bytes, call) : commitInPieces(bytes, call)
}

const mutationsField = 6

/** Decodes the mutations of a large request in slices. */
async function commitInPieces(bytes: Buffer, call: Call): Promise<ScopedCommit> {
  const { rest, pieces } = await cutMessage(call, bytes, mutationsField)
  const { scope, commit } = wholeCommit(rest, call)
  const mutations: Mutation[] = []
  await forEachPiece(call, pieces, (piece) => {
    for (const mutation of decodeRequest(decoder, piece, 'Commit').mutations)
      mutations.push(mutationOf(mutation, scope))
  })
  return { scope, commit: { ...commit, mutations } }
}

function wholeCommit(bytes: Buffer, call: Call): ScopedCommit {
  const request = decodeRequest(decoder, bytes, 'Commit')
  const scope = requestScope(request, call)
  const { transaction, singleUseTransaction } = request
  const mode = modeOf(request.mode)
  const mutations = request.mutations.map((mutation) => mutationOf(mutation, scope))
  if (transaction !== null) return { scope, commit: { mode, mutations, transaction: transactionIdOf(transaction) } }
  if (singleUseTransaction === null) return { scope, commit: { mode, mutations } }
  return { scope, commit: { mode, mutations, singleUse: transactionOptionsOf(singleUseTransaction) } }
}

/** An unspecified mode is transactional (measured). */
function modeOf(mode: number): CommitRequest['mode'] {
  if (mode === nonTransactional) return 'nonTransactional'
  if (mode === 0 || mode === transactional) return 'transactional'
  throw invalidArgument(`the mode ${mode} of a commit is unknown; choose TRANSACTIONAL (1) or NON_TRANSACTIONAL (2)`)
}

/** CommitResponse: mutation_results 3, index_updates 4, commit_time 8. */
function answerOf(call: Call, { mutationResults, indexUpdates, commitTime }: CommitResult): MaybePromise<Buffer> {
  return writeInPieces(call, mutationResults, (part, isLast) =>
    writeAnswer((writer) => {
      if (isLast && commitTime !== undefined) writer.timestamp(8, Number(commitTime))
      if (isLast && indexUpdates !== 0) writer.uint32(4, indexUpdates)
      writeMutationResults(writer, part)
    }),
  )
}

/**
 * MutationResult: key 3, version 4, conflict_detected 5, update_time 6, create_time 7, transform_results 8. An answer is written from
 * its end.
 */
function writeMutationResults(writer: AnswerWriter, results: CommitResult['mutationResults']): void {
  for (let i = results.length - 1; i >= 0; i--) {
    const result = results[i]
    if (result === undefined) continue
    const end = writer.mark()
    for (const value of result.transformResults?.toReversed() ?? []) writer.bytes(8, encodeValue(value))
    if (result.createTime !== undefined) writer.timestamp(7, Number(result.createTime))
    if (result.updateTime !== undefined) writer.timestamp(6, Number(result.updateTime))
    if (result.conflictDetected) writer.uint32(5, 1)
    writer.int64(4, result.version)
    if (result.key !== undefined) writer.key(3, result.key)
    writer.head(3, end)
  }
}
