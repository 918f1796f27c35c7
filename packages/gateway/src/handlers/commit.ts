/** Commit: applies mutations. Only the message's form is checked here; the engine checks whether mode and transaction fit. */
import {
  andThen,
  type CommitRequest,
  type CommitResult,
  type ConflictCheck,
  decodeArrayValue,
  decodeKey,
  decodeValue,
  encodeValue,
  invalidArgument,
  type MaybePromise,
  type Mutation,
  type PropertyTransform,
} from '@sixtables/engine'
import { google, type Mutation as WireMutation, type PropertyTransform as WireTransform } from '#gen/wire.js'
import type { Call, Handler } from '../call.ts'
import { type AnswerWriter, writeAnswer } from '../convert/answer-writer.ts'
import type { DatabaseName } from '../convert/parameters.ts'
import { cutMessage, forEachPiece, wholeBytesMax, writeInPieces } from '../convert/pieces.ts'
import { bigintOf, exactMicrosOf, transactionIdOf, transactionOptionsOf } from '../convert/read-options.ts'
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

const serverValue = 1
const fail = 3
const requestTime = 1

function mutationOf(mutation: WireMutation, scope: DatabaseName): Mutation {
  const { upsert, propertyMask: mask, baseVersion, updateTime, conflictResolutionStrategy } = mutation
  const isPlain = mask === null && mutation.propertyTransforms.length === 0
  const isUnconditional = baseVersion === null && updateTime === null && conflictResolutionStrategy === 0
  // The common case: an entity and nothing else.
  if (upsert !== null && isPlain && isUnconditional) return { operation: 'upsert', entity: upsert }
  const check = conflictCheckOf(mutation)
  const rest = {
    ...(check === undefined ? {} : { conflict: check }),
    ...(mask === null ? {} : { propertyMask: mask.paths }),
  }
  if (mutation.delete !== null) {
    if (mutation.propertyTransforms.length > 0) {
      throw invalidArgument(
        'a delete has property transforms; they go with insert, update and upsert',
        'Delete mutation cannot have PropertyTransforms.',
      )
    }
    return { operation: 'delete', key: decodeKey(mutation.delete, scope), ...rest }
  }
  const transforms = mutation.propertyTransforms.map((transform) => transformOf(transform, scope))
  const written = transforms.length === 0 ? rest : { ...rest, transforms }
  if (mutation.upsert !== null) return { operation: 'upsert', entity: mutation.upsert, ...written }
  if (mutation.insert !== null) return { operation: 'insert', entity: mutation.insert, ...written }
  if (mutation.update !== null) return { operation: 'update', entity: mutation.update, ...written }
  throw invalidArgument(
    'a mutation has no operation; it needs one of insert, update, upsert and delete',
    'Mutation is missing operation.',
  )
}

function conflictCheckOf(mutation: WireMutation): ConflictCheck | undefined {
  const { baseVersion, updateTime, conflictResolutionStrategy: strategy } = mutation
  if (strategy !== 0 && strategy !== serverValue && strategy !== fail) {
    throw invalidArgument(`conflict_resolution_strategy ${strategy} is unknown; choose SERVER_VALUE (1) or FAIL (3)`)
  }
  if (baseVersion === null && updateTime === null) {
    if (strategy === 0) return undefined
    throw invalidArgument(
      'conflict_resolution_strategy needs base_version or update_time to find a conflict by',
      'cannot set a conflict resolution strategy if no detection strategy was set',
    )
  }
  const resolution =
    strategy === 0 ? {} : { resolution: strategy === fail ? ('fail' as const) : ('serverValue' as const) }
  if (updateTime !== null) return { updateTime: exactMicrosOf(updateTime, 'update_time'), ...resolution }
  const version = baseVersion === null ? 0n : bigintOf(baseVersion)
  if (version < 0n)
    throw invalidArgument(
      `base_version is ${version}; versions are not negative`,
      `Invalid base_version: ${version}, it should be >= 0`,
    )
  return { baseVersion: version, ...resolution }
}

function transformOf(transform: WireTransform, scope: DatabaseName): PropertyTransform {
  const { property, setToServerValue, increment, maximum, minimum, appendMissingElements, removeAllFromArray } =
    transform
  const value = (bytes: Uint8Array) => decodeValue(bytes, scope, property)
  const values = (bytes: Uint8Array) => decodeArrayValue(bytes, scope, property)
  if (setToServerValue === requestTime) return { property, type: 'requestTime' }
  if (setToServerValue !== null) {
    throw invalidArgument(
      `set_to_server_value ${setToServerValue} of "${property}" is unknown; choose REQUEST_TIME (1)`,
    )
  }
  if (increment !== null) return { property, type: 'increment', value: value(increment) }
  if (maximum !== null) return { property, type: 'maximum', value: value(maximum) }
  if (minimum !== null) return { property, type: 'minimum', value: value(minimum) }
  if (appendMissingElements !== null) return { property, type: 'appendMissing', values: values(appendMissingElements) }
  if (removeAllFromArray !== null) return { property, type: 'removeAll', values: values(removeAllFromArray) }
  throw invalidArgument(`the transform of "${property}" has no operation; it needs one, such as increment`)
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
