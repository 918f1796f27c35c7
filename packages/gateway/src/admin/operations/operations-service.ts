/**
 * google.longrunning.Operations over the registry of operations.
 *
 * Known: the service's proto; in REST operations stand under their project, or under their project and database for the
 * calls that gcloud makes through the Firestore API.
 */

import type { Verb } from '../../protocols/router.ts'
import type { AdminMethod, AdminService } from '../admin-service.ts'
import type { ListRequest, Operations } from './operations.ts'

/** How long WaitOperation waits when its caller does not say. */
const waitDefaultMs = 60_000

export function operationsService(operations: Operations): AdminService {
  return {
    name: 'google.longrunning.Operations',
    methods: [
      {
        name: 'ListOperations',
        rest: both('GET', ''),
        answer: (request) => {
          const { name = '', ...rest } = request as { name?: string } & Omit<ListRequest, 'parent'>
          return { ...operations.list({ ...rest, parent: name.replace(/\/operations$/, '') }) }
        },
      },
      {
        name: 'GetOperation',
        rest: both('GET', '/{operation}'),
        answer: ({ name }) => operations.get(String(name)),
      },
      {
        name: 'DeleteOperation',
        rest: both('DELETE', '/{operation}'),
        answer: ({ name }) => {
          operations.delete(String(name))
          return {}
        },
      },
      {
        name: 'CancelOperation',
        rest: both('POST', '/{operation}:cancel', '*'),
        answer: ({ name }) => {
          operations.cancel(String(name))
          return {}
        },
      },
      {
        name: 'WaitOperation',
        rest: both('POST', '/{operation}:wait', '*'),
        answer: ({ name, timeout }, call) =>
          operations.wait(
            String(name),
            durationMs(timeout) ?? Math.min(waitDefaultMs, (call?.timeoutMs ?? Infinity) / 2),
          ),
      },
    ],
  }
}

/** A path under the operations of a project, and the same of a database. */
function both(verb: Verb, path: string, body?: string): AdminMethod['rest'] {
  return ['/v1/projects/{project}', '/v1/projects/{project}/databases/{database}'].map((parent) => ({
    verb,
    path: `${parent}/operations${path}`,
    ...(body === undefined ? {} : { body }),
    members: ({ project, database, operation }) => ({
      name: [
        `projects/${project}`,
        ...(database === undefined ? [] : [`databases/${database}`]),
        'operations',
        ...(operation === undefined ? [] : [operation]),
      ].join('/'),
    }),
  }))
}

/** `"3.5s"` → 3500. */
function durationMs(duration: unknown): number | undefined {
  return typeof duration === 'string' ? Number.parseFloat(duration) * 1000 : undefined
}
