/**
 * Calls that only an emulator has.
 *
 *   GET  /            "Ok" and a line break: the server answers; UNAVAILABLE and the reason while its store takes no writes; a
 *                     browser, which asks for text/html, is sent to the console
 *   POST /reset       drops all data, or what `project`, `database` and `namespace` name
 *   POST /shutdown    ends the server after this answer
 *
 * Measured: all three on both of Google's emulators; other verbs on these paths are 404. The query of /reset is ours.
 */

import { DatastoreError, invalidArgument } from '@sixtables/engine'
import { databaseIdOf } from '../../convert/parameters.ts'
import type { EnginePort, ResetScope } from '../../engine-port.ts'
import { type Router, redirect } from '../../protocols/router.ts'

export interface EmulatorEndpointsOptions {
  readonly engine: EnginePort
  /** Called for POST /shutdown; absent = the call is not offered. */
  readonly onShutdown?: (() => void) | undefined
  /** Path to which a browser that opens the root is sent; absent = it gets the same answer as all others. */
  readonly page?: string | undefined
}

export function addEmulatorEndpoints(router: Router, { engine, onShutdown, page }: EmulatorEndpointsOptions): void {
  router.add('GET', '/', ({ headers }) => {
    if (page !== undefined && headers.accept?.includes('text/html') === true) return { file: redirect(page) }
    const failure = engine.store?.failure
    if (failure !== undefined) throw new DatastoreError('UNAVAILABLE', failure.message)
    return { text: 'Ok\n' }
  })
  router.add('POST', '/reset', async ({ query }) => {
    await engine.reset(resetScopeOf(query))
    return { text: 'Resetting...\n' }
  })
  router.add('POST', '/shutdown', () => {
    if (onShutdown === undefined) throw invalidArgument('this server runs inside another program; end it there')
    setImmediate(onShutdown)
    return { text: 'Shutting down...\n' }
  })
}

const scopeNames: readonly string[] = ['project', 'database', 'namespace']

/** A namespace alone means that of the default database. */
export function resetScopeOf(query: URLSearchParams): ResetScope {
  for (const [name, value] of query) {
    // A misspelt name must not widen what is deleted to everything.
    if (!scopeNames.includes(name)) throw invalidArgument(`reset knows ${scopeNames.join(', ')}, not ${name}`)
    if (name === 'project' && value === '')
      throw invalidArgument('reset: the project is empty; leave it out to reset all')
  }
  const projectId = query.get('project') ?? undefined
  const database = query.get('database') ?? undefined
  const namespaceId = query.get('namespace') ?? undefined
  if (projectId === undefined && (database !== undefined || namespaceId !== undefined)) {
    throw invalidArgument('reset of a database or namespace needs the project too: ?project=…')
  }
  const databaseId = databaseIdOf(database) ?? (namespaceId === undefined ? undefined : '')
  return { projectId, databaseId, namespaceId }
}
