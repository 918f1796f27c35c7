/**
 * google.longrunning.Operations over the registry of operations.
 *
 * Known: the service's proto. In REST an operation belongs to its project, or to its project and database if gcloud started it through
 * the Firestore API.
 */

import type { MaybePromise } from '@sixtables/engine'
import type { Call } from '../../call.ts'
import type { Verb } from '../../protocols/router.ts'
import type { AdminMethod, AdminService } from '../admin-service.ts'
import type { IndexOperations } from '../index-operations.ts'
import type { JsonObject, ListRequest, Operations } from './operations.ts'

/** Default time of WaitOperation. */
const waitDefaultMs = 60_000

/** @param indexes - finds operations that other gateways of a shared store began */
export function operationsService(
  operations: Operations,
  indexes: Pick<IndexOperations, 'adopt' | 'adoptAll'>,
): AdminService {
  /** A method for one operation, by its name. */
  const ofOne = (
    name: string,
    rest: AdminMethod['rest'],
    answer: (operation: string, request: JsonObject, call: Call | undefined) => MaybePromise<JsonObject>,
  ): AdminMethod => ({
    name,
    rest,
    answer: async (request, call) => {
      const operation = String(request['name'])
      await indexes.adopt(operation)
      return await answer(operation, request, call)
    },
  })
  return {
    name: 'google.longrunning.Operations',
    methods: [
      {
        name: 'ListOperations',
        rest: both('GET', ''),
        answer: async (request) => {
          const { name = '', ...rest } = request as { name?: string } & Omit<ListRequest, 'parent'>
          const parent = name.replace(/\/operations$/, '')
          await indexes.adoptAll(parent)
          return { ...operations.list({ ...rest, parent }) }
        },
      },
      ofOne('GetOperation', both('GET', '/{operation}'), (name) => operations.get(name)),
      ofOne('DeleteOperation', both('DELETE', '/{operation}'), (name) => {
        operations.delete(name)
        return {}
      }),
      ofOne('CancelOperation', both('POST', '/{operation}:cancel', '*'), (name) => {
        operations.cancel(name)
        return {}
      }),
      ofOne('WaitOperation', both('POST', '/{operation}:wait', '*'), (name, { timeout }, call) => {
        const waitMs = durationMs(timeout) ?? Math.min(waitDefaultMs, (call?.timeoutMs ?? Infinity) / 2)
        return operations.wait(name, waitMs)
      }),
    ],
  }
}

/** A REST path under the operations of a project, and the same for a database. */
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
