/** Rollback: not built yet. The request is decoded and its database checked all the same. */

import { unimplemented } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { decodeRequest } from '../convert/decode.ts'
import { requestScope } from '../convert/request-scope.ts'

const { RollbackRequest } = google.datastore.v1

export function rollbackHandler(): Handler {
  return (bytes, call) => {
    requestScope(decodeRequest(RollbackRequest, bytes, 'RollbackRequest'), call)
    throw unimplemented('Rollback is not built yet, nor are transactions that could be rolled back')
  }
}
