/** The methods of the data API. */

/** Their names in URLs, logs and recordings, and in gRPC. */
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

/** `runQuery` of `RunQuery`; also of a method that is not of the data API. */
export function dataMethodOf(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`
}
