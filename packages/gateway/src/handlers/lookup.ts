/** Lookup: entities by key. Found ones go out as they are stored. */

import { andThen, decodeKey, type LookupResult } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { writeAnswer } from '../convert/answer-writer.ts'
import { decodeRequest } from '../convert/decode.ts'
import { writeFound, writeMissing } from '../convert/entity-result.ts'
import { readOptionsOf } from '../convert/read-options.ts'
import { requestScope } from '../convert/request-scope.ts'
import type { EnginePort } from '../engine-port.ts'

const { LookupRequest } = google.datastore.v1

export function lookupHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(LookupRequest, bytes, 'LookupRequest')
    const scope = requestScope(request, call)
    const keys = request.keys.map((key) => decodeKey(key, scope))
    const read = readOptionsOf(request.readOptions)
    const result = engine.database(scope.projectId, scope.databaseId).lookup(call, {
      keys,
      ...(read === undefined ? {} : { read }),
      ...(request.propertyMask === null ? {} : { propertyMask: request.propertyMask.paths }),
    })
    const isEventual = read?.consistency === 'eventual'
    return andThen(result, (found) => answerOf(found, isEventual))
  }
}

/** LookupResponse: found 1, missing 2, deferred 3, transaction 5, read_time 7. */
function answerOf({ found, missing, deferred, transaction, readTime }: LookupResult, isEventual: boolean): Buffer {
  const version = isEventual ? undefined : readTime
  return writeAnswer((writer) => {
    writer.timestamp(7, readTime)
    if (transaction !== undefined) writer.bytes(5, transaction)
    for (const key of deferred.toReversed()) writer.key(3, key)
    for (const key of missing.toReversed()) writeMissing(writer, 2, key, version)
    for (let i = found.length - 1; i >= 0; i--) {
      const one = found[i]
      if (one !== undefined) writeFound(writer, 1, one.key, one.image)
    }
  })
}
