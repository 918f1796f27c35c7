/** The methods of the data API, and their paths. */
import { methodNames } from '@sixtables/gateway/browser'

export const dataMethods: readonly string[] = Object.keys(methodNames)

/** The path of a method of a project: `/v1/projects/demo:lookup`. */
export function dataPath(project: string, method: string): string {
  return `/v1/projects/${encodeURIComponent(project)}:${method}`
}
