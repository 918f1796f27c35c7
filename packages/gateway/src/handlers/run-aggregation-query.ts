/** RunAggregationQuery: not built yet. The request is decoded and its database checked all the same. */

import { unimplemented } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { decodeRequest } from '../convert/decode.ts'
import { requestScope } from '../convert/request-scope.ts'

const { RunAggregationQueryRequest } = google.datastore.v1

export function runAggregationQueryHandler(): Handler {
  return (bytes, call) => {
    requestScope(decodeRequest(RunAggregationQueryRequest, bytes, 'RunAggregationQueryRequest'), call)
    throw unimplemented('aggregation queries are not built yet; run the query and count its results')
  }
}
