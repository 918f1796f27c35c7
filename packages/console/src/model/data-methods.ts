/** The methods of the data API. */
export const dataMethods: readonly string[] = [
  'lookup',
  'runQuery',
  'runAggregationQuery',
  'beginTransaction',
  'commit',
  'rollback',
  'allocateIds',
  'reserveIds',
]
