/**
 * Long-running operations: work that continues after its first answer, and can be asked for by name.
 *
 *   start(work) ─▶ projects/{project}/operations/{id}     done: false, metadata with state and progress
 *                                                         done: true,  and a response or an error
 *
 * An operation is kept as google.longrunning.Operation in JSON, in which Any members have their type in `@type`; admin-service.ts makes bytes
 * of it for gRPC. The newest finished operations are kept until the server ends. Cancelling asks the work to stop: the operation
 * ends when the work does, with CANCELLED, or with its result if that was first.
 *
 * Known: google.longrunning.Operations, and CommonMetadata of google.datastore.admin.v1. In REST an operation belongs to its project, or to its
 * project and database if gcloud started it through the Firestore API.
 */
import {
  DatastoreError,
  failedPrecondition,
  invalidArgument,
  type MaybePromise,
  notFound,
  statusCodes,
} from '@sixtables/engine'
import type { Call } from '../../call.ts'
import { inCamelCase, resourceNameOf } from '../../convert/parameters.ts'
import { type Logger, silentLogger } from '../../logger.ts'
import type { Verb } from '../../protocols/router.ts'
import { type Status, statusOf } from '../../protocols/status.ts'
import { within } from '../../within.ts'
import type { AdminMethod, AdminService, JsonObject } from '../admin-service.ts'

export type OperationType =
  | 'EXPORT_ENTITIES'
  | 'IMPORT_ENTITIES'
  | 'CREATE_INDEX'
  | 'DELETE_INDEX'
  // Names for types that have none in the Firestore API, for filters of lists.
  | 'CREATE_DATABASE'
  | 'UPDATE_DATABASE'
  | 'DELETE_DATABASE'
  | 'UPDATE_FIELD'

export type OperationState = 'PROCESSING' | 'CANCELLING' | 'SUCCESSFUL' | 'FAILED' | 'CANCELLED'

export interface OperationWork {
  /** The last part of its name; default random. */
  readonly id?: string | undefined
  readonly type: OperationType
  readonly projectId: string
  /** The database, for operations whose names contain one. */
  readonly databaseId?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The current metadata with `@type`, and the common part if its type has one. */
  metadata(common: CommonMetadata): JsonObject
  /** Does the work, and returns the response with `@type`. */
  run(signal: AbortSignal): MaybePromise<JsonObject>
}

/** google.datastore.admin.v1.CommonMetadata in JSON. */
export interface CommonMetadata {
  readonly startTime: string
  readonly endTime?: string
  readonly operationType: OperationType
  readonly labels?: Readonly<Record<string, string>>
  readonly state: OperationState
}

/** google.longrunning.Operation in JSON. */
export interface OperationJson extends JsonObject {
  readonly name: string
  readonly metadata: JsonObject
  readonly done?: boolean
  readonly error?: { readonly code: number; readonly message: string }
  readonly response?: JsonObject
}

export interface ListRequest {
  /** `projects/p`, or `projects/p/databases/d`. */
  readonly parent: string
  readonly filter?: string
  readonly pageSize?: number
  readonly pageToken?: string
}

interface Entry {
  readonly name: string
  readonly work: OperationWork
  readonly startedAt: Date
  readonly abort: AbortController
  /** Resolves when the work has ended. */
  settled: Promise<void>
  endedAt?: Date
  response?: JsonObject
  failure?: Status
}

const pageSizeDefault = 100
const finishedKept = 1000

export class Operations {
  readonly #entries = new Map<string, Entry>()
  readonly #logger: Logger

  constructor(logger: Logger = silentLogger) {
    this.#logger = logger
  }

  /** Begins the work. @returns the operation, which may be done already */
  start(work: OperationWork): OperationJson {
    const { projectId, databaseId } = work
    const parent = databaseId === undefined ? `projects/${projectId}` : resourceNameOf({ projectId, databaseId })
    const name = `${parent}/operations/${work.id ?? crypto.randomUUID().replaceAll('-', '')}`
    const known = this.#entries.get(name)
    if (known !== undefined) return jsonOf(known)
    const abort = new AbortController()
    const entry: Entry = { name, work, startedAt: new Date(), abort, settled: Promise.resolve() }
    const finish = (outcome: Pick<Entry, 'response' | 'failure'>): void => {
      Object.assign(entry, outcome, { endedAt: new Date() })
    }
    const fail = (error: unknown): void => finish({ failure: statusOf(error, this.#logger) })
    this.#entries.set(name, entry)
    this.#forgetOldest()
    try {
      const response = work.run(abort.signal)
      if (response instanceof Promise) entry.settled = response.then((value) => finish({ response: value }), fail)
      else finish({ response })
    } catch (error) {
      fail(error)
    }
    return jsonOf(entry)
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  get(name: string): OperationJson {
    return jsonOf(this.#find(name))
  }

  /** Operations of a project or database, newest first. @throws INVALID_ARGUMENT for a wrong filter, or a page token of another list */
  list({ parent, filter = '', pageSize = 0, pageToken = '' }: ListRequest): {
    readonly operations: readonly OperationJson[]
    readonly nextPageToken?: string
  } {
    if (pageSize < 0) throw invalidArgument(`page_size is ${pageSize}; it must not be negative`)
    const matches = filterOf(filter)
    const all = [...this.#entries.values()]
      .reverse()
      .filter(({ name }) => name.slice(0, name.lastIndexOf('/operations/')) === parent)
      .map(jsonOf)
      .filter(matches)
    const first = pageToken === '' ? 0 : all.findIndex(({ name }) => name.endsWith(`/${pageToken}`))
    if (first < 0) throw invalidArgument('the page token is not of this list: begin without one')
    const end = first + (pageSize || pageSizeDefault)
    const next = all[end]?.name.split('/').at(-1)
    const operations = all.slice(first, end)
    return next === undefined ? { operations } : { operations, nextPageToken: next }
  }

  /** Asks the work to stop. A finished operation stays as it is. @throws NOT_FOUND */
  cancel(name: string): void {
    const entry = this.#find(name)
    if (entry.endedAt === undefined) {
      entry.abort.abort(new DatastoreError('CANCELLED', `the operation ${name} was cancelled`))
    }
  }

  /** Forgets a finished operation. @throws NOT_FOUND; FAILED_PRECONDITION while it runs */
  delete(name: string): void {
    const entry = this.#find(name)
    if (entry.endedAt === undefined) throw failedPrecondition(`the operation ${name} is running; cancel it first`)
    this.#entries.delete(name)
  }

  /** The finished operation, or its state after `timeoutMs`. @throws NOT_FOUND */
  async wait(name: string, timeoutMs: number): Promise<OperationJson> {
    const entry = this.#find(name)
    await within(timeoutMs, entry.settled)
    return jsonOf(entry)
  }

  #find(name: string): Entry {
    const entry = this.#entries.get(name)
    if (entry === undefined) {
      throw notFound(`there is no operation ${name}; operations end with the server`)
    }
    return entry
  }

  #forgetOldest(): void {
    if (this.#entries.size <= finishedKept) return
    for (const { name, endedAt } of this.#entries.values()) {
      if (endedAt === undefined) continue
      this.#entries.delete(name)
      return
    }
  }
}

function stateOf({ endedAt, failure, abort }: Entry): OperationState {
  if (endedAt === undefined) return abort.signal.aborted ? 'CANCELLING' : 'PROCESSING'
  if (failure === undefined) return 'SUCCESSFUL'
  return failure.code === 'CANCELLED' ? 'CANCELLED' : 'FAILED'
}

function jsonOf(entry: Entry): OperationJson {
  const { name, work, startedAt, endedAt, response, failure } = entry
  const metadata = work.metadata({
    startTime: startedAt.toISOString(),
    ...(endedAt === undefined ? {} : { endTime: endedAt.toISOString() }),
    operationType: work.type,
    ...(work.labels === undefined ? {} : { labels: work.labels }),
    state: stateOf(entry),
  })
  if (endedAt === undefined) return { name, metadata }
  if (failure === undefined) return { name, metadata, done: true, ...(response === undefined ? {} : { response }) }
  return { name, metadata, done: true, error: { code: statusCodes[failure.code], message: failure.message } }
}

/**
 * Parses conditions joined by AND, each a path of members and a value: `done=true`, `metadata.common.operationType:EXPORT_ENTITIES`,
 * `metadata.common.labels.env="dev"`. Names may be in snake case, as in Google's documentation.
 */
function filterOf(filter: string): (operation: OperationJson) => boolean {
  if (filter.trim() === '') return () => true
  const conditions = filter.split(/\s+AND\s+/i).map((text) => {
    const [, path = '', quoted, plain] =
      /^\s*\(?\s*([\w.]+)\s*[=:]\s*(?:"([^"]*)"|([^\s"()]+))\s*\)?\s*$/.exec(text) ?? []
    if (path === '') {
      throw invalidArgument(
        `the filter ${filter} is not understood; write it like done=true AND metadata.common.state=FAILED`,
      )
    }
    return { path: path.split('.'), value: quoted ?? plain ?? '' }
  })
  return (operation) => conditions.every(({ path, value }) => String(memberOf(operation, path) ?? 'false') === value)
}

function memberOf(from: unknown, path: readonly string[]): unknown {
  let found = from
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined
    const members = found as JsonObject
    found = members[name] ?? members[inCamelCase(name)]
  }
  return found
}

const waitDefaultMs = 60_000

/** @param indexes - finds operations that other gateways of a shared store began */
export function operationsService(
  operations: Operations,
  indexes: Record<'adopt' | 'adoptAll', (name: string) => Promise<void>>,
): AdminService {
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
        // A duration such as "3.5s".
        const waitMs = typeof timeout === 'string' ? Number.parseFloat(timeout) * 1000 : undefined
        return operations.wait(name, waitMs ?? Math.min(waitDefaultMs, (call?.timeoutMs ?? Infinity) / 2))
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
