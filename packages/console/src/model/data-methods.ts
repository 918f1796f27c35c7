/** The methods of the data API, and their paths: `/v1/projects/demo:lookup`. */
import { methodNames } from '@sixtables/gateway/browser'

export const dataMethods: readonly string[] = Object.keys(methodNames)

export function dataPath(project: string, method: string): string {
  return `/v1/projects/${encodeURIComponent(project)}:${method}`
}
