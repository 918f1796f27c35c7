/** BeginTransaction: not built yet. The request is decoded and its database checked all the same. */

import { unimplemented } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { decodeRequest } from '../convert/decode.ts'
import { requestScope } from '../convert/request-scope.ts'

const { BeginTransactionRequest } = google.datastore.v1

export function beginTransactionHandler(): Handler {
  return (bytes, call) => {
    requestScope(decodeRequest(BeginTransactionRequest, bytes, 'BeginTransactionRequest'), call)
    throw unimplemented(
      'transactions that are begun by a call of their own are not built yet; commit with a single-use transaction',
    )
  }
}
