/** Lookup: entities by key. The stored bytes of an entity are sent undecoded. */

import {
  andThen,
  decodeKeys,
  type LookupResult,
  type LookupRequest as LookupVerb,
  type MaybePromise,
  type RequestContext,
} from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Call, Handler } from '../call.ts'
import { writeMissing, writeResult, writeResults } from '../convert/entity-result.ts'
import type { DatabaseName } from '../convert/parameters.ts'
import { cutMessage, wholeBytesMax } from '../convert/pieces.ts'
import { readOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'
import { keysOfPieces } from './ids.ts'

const { LookupRequest } = google.datastore.v1
interface ScopedLookup {
  readonly scope: DatabaseName
  readonly request: LookupVerb
}

export function lookupHandler(engine: EnginePort): Handler {
  return (bytes, call) =>
    andThen(lookupOf(bytes, call), ({ scope, request }) => {
      const result = engine.database(scope.projectId, scope.databaseId).lookup(call, request)
      const isEventual = request.read?.consistency === 'eventual'
      return andThen(result, (answer) => lookupAnswer(call, answer, isEventual))
    })
}

const keysField = 3

function lookupOf(bytes: Buffer, call: Call): MaybePromise<ScopedLookup> {
  const message = decodeRequest(LookupRequest, bytes, 'Lookup')
  const scope = requestScope(message, call)
  const isLarge = bytes.length > wholeBytesMax
  const keys = isLarge
    ? cutMessage(call, bytes, keysField).then(({ pieces }) => keysOfPieces(call, pieces, keysField, scope))
    : decodeKeys(bytes, keysField, scope)
  return andThen(keys, (keys) => {
    const read = readOptionsOf(message.readOptions)
    const whole = read === undefined ? { keys } : { keys, read }
    if (message.propertyMask === null) return { scope, request: whole }
    return { scope, request: { ...whole, propertyMask: message.propertyMask.paths } }
  })
}

/** LookupResponse: found 1, missing 2, deferred 3, transaction 5, read_time 7. */
export function lookupAnswer(
  context: RequestContext,
  { found, missing, deferred, transaction, readTime }: LookupResult,
  isEventual: boolean,
): MaybePromise<Buffer> {
  const version = isEventual ? undefined : readTime
  return writeResults(context, found, (writer) => {
    writer.timestamp(7, Number(readTime))
    if (transaction !== undefined) writer.bytes(5, transaction)
    for (const key of deferred.toReversed()) writer.key(3, key)
    for (const key of missing.toReversed()) writeMissing(writer, 2, key, version)
    for (let i = found.length - 1; i >= 0; i--) {
      const one = found[i]
      if (one !== undefined) writeResult(writer, 1, one)
    }
  })
}
