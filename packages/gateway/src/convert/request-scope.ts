/**
 * The database of a request. Over HTTP the path has the project, and a body with another one is refused (ours: both of Google's
 * emulators never answer it, measured). Over gRPC only the message counts; routing metadata is not read (measured).
 */
import { invalidArgument, validateDatabase } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { DatabaseName } from './parameters.ts'

/** @returns the defaults for empty parts of keys and partitions in the request */
export function requestScope(request: DatabaseName, { pathProjectId }: Call): DatabaseName {
  const { projectId, databaseId } = request
  if (pathProjectId !== undefined && projectId !== '' && projectId !== pathProjectId) {
    throw invalidArgument(
      `the path names project "${pathProjectId}" and the body project "${projectId}"; leave projectId out of the body, ` +
        'or make them equal',
    )
  }
  const scope = { projectId: projectId === '' ? (pathProjectId ?? '') : projectId, databaseId }
  validateDatabase(scope)
  return scope
}
