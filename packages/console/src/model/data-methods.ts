/** The methods of the data API, and their paths. */
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

/** The path of a method of a project: `/v1/projects/demo:lookup`. */
export function dataPath(project: string, method: string): string {
  return `/v1/projects/${encodeURIComponent(project)}:${method}`
}
