/** The service and the methods of the data API. */

export const dataService = 'google.datastore.v1.Datastore'

/** Method names in URLs, logs and recordings, with their gRPC names. */
export const methodNames = {
  lookup: 'Lookup',
  runQuery: 'RunQuery',
  runAggregationQuery: 'RunAggregationQuery',
  beginTransaction: 'BeginTransaction',
  commit: 'Commit',
  rollback: 'Rollback',
  allocateIds: 'AllocateIds',
  reserveIds: 'ReserveIds',
} as const

export type DataMethod = keyof typeof methodNames
export type MethodName = (typeof methodNames)[DataMethod]

/** `RunQuery` → `runQuery`; also for methods outside the data API. */
export function dataMethodOf(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`
}
