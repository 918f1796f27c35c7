/**
 * AllocateIds: completes keys with ids that are never used again. ReserveIds: excludes ids from automatic allocation. Both requests have any number
 * of keys; those of a large one are read in slices, as are those of a large Lookup.
 */
import { andThen, decodeKeys, type Key, type MaybePromise } from '@sixtables/engine'
import { type Decoder, google } from '#gen/wire.js'
import type { Call, Handler } from '../call.ts'
import { emptyAnswer, writeAnswer } from '../convert/answer-writer.ts'
import type { DatabaseName } from '../convert/parameters.ts'
import { cutMessage, forEachPiece, wholeBytesMax, writeInPieces } from '../convert/pieces.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'
import type { MethodName } from '../methods.ts'

const { AllocateIdsRequest, ReserveIdsRequest } = google.datastore.v1

/** AllocateIdsResponse: keys 1, in the order of the request. */
export function allocateIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) =>
    andThen(readKeys('AllocateIds', AllocateIdsRequest, bytes, call), ({ scope, keys }) =>
      andThen(engine.database(scope.projectId, scope.databaseId).allocateIds(call, keys), (completed) =>
        writeInPieces(call, completed, (part) =>
          writeAnswer((writer) => {
            for (const key of part.toReversed()) writer.key(1, key)
          }),
        ),
      ),
    )
}

export function reserveIdsHandler(engine: EnginePort): Handler {
  return (bytes, call) =>
    andThen(readKeys('ReserveIds', ReserveIdsRequest, bytes, call), ({ scope, keys }) =>
      andThen(engine.database(scope.projectId, scope.databaseId).reserveIds(call, keys), emptyAnswer),
    )
}

interface ScopedKeys {
  readonly scope: DatabaseName
  readonly keys: readonly Key[]
}

type KeysDecoder = Decoder<Parameters<typeof requestScope>[0]>

/** The field with the keys in both requests. */
const keysField = 1

function readKeys(name: MethodName, decoder: KeysDecoder, bytes: Buffer, call: Call): MaybePromise<ScopedKeys> {
  if (bytes.length > wholeBytesMax) return readInPieces(name, decoder, bytes, call)
  const scope = requestScope(decodeRequest(decoder, bytes, name), call)
  return { scope, keys: decodeKeys(bytes, keysField, scope) }
}

async function readInPieces(name: MethodName, decoder: KeysDecoder, bytes: Buffer, call: Call): Promise<ScopedKeys> {
  const { rest, pieces } = await cutMessage(call, bytes, keysField)
  const scope = requestScope(decodeRequest(decoder, rest, name), call)
  return { scope, keys: await keysOfPieces(call, pieces, keysField, scope) }
}

export async function keysOfPieces(
  call: Call,
  pieces: readonly Buffer[],
  field: number,
  scope: DatabaseName,
): Promise<readonly Key[]> {
  const keys: Key[] = []
  await forEachPiece(call, pieces, (piece) => {
    for (const key of decodeKeys(piece, field, scope)) keys.push(key)
  })
  return keys
}
