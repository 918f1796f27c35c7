/**
 * Endpoints that only an emulator has.
 *
 *   GET  /            "Ok" and a line break; UNAVAILABLE and the reason while the store accepts no writes; a browser, which asks
 *                     for text/html, is redirected to the console
 *   POST /reset       deletes all data, or that of `project`, `database` and `namespace`
 *   POST /shutdown    ends the server after this answer
 *
 * Measured: all three on both of Google's emulators; other verbs on these paths are 404. The query of /reset is ours.
 */
import { DatastoreError, invalidArgument, validatePartition } from '@sixtables/engine'
import { databaseIdOf } from '../../convert/parameters.ts'
import type { EnginePort, ResetScope } from '../../engine-port.ts'
import { type Router, redirect } from '../../protocols/router.ts'

export interface EmulatorEndpointsOptions {
  readonly engine: EnginePort
  /** Called for POST /shutdown; without it the endpoint refuses. */
  readonly onShutdown?: (() => void) | undefined
  /** The path to which a browser at `/` is redirected; without it the browser gets "Ok". */
  readonly page?: string | undefined
}

export function addEmulatorEndpoints(router: Router, { engine, onShutdown, page }: EmulatorEndpointsOptions): void {
  router.add('GET', '/', ({ headers }) => {
    if (page !== undefined && headers['accept']?.includes('text/html') === true) return { file: redirect(page) }
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

/** A namespace without a database is one of the default database. */
export function resetScopeOf(query: URLSearchParams): ResetScope {
  for (const [name, value] of query) {
    // Without this check a misspelt name would delete everything.
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
  if (projectId !== undefined)
    validatePartition({ projectId, databaseId: databaseId ?? '', namespaceId: namespaceId ?? '' }, undefined)
  return { projectId, databaseId, namespaceId }
}
