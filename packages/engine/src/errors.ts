/**
 * The one public error of the engine.
 *
 * `code` is contract; the message says what was asked, what was found and what to do. Only the gateway knows its wire forms.
 * Codes are those of google.rpc.Code (known: google/rpc/code.proto); which case has which code is measured.
 */

/** google.rpc.Code by name. */
export const statusCodes = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const

export type StatusCode = keyof typeof statusCodes

/** Advice for a retry: repeat the call, the whole transaction, later, or never. */
export type Retry = 'never' | 'once' | 'request' | 'transaction' | 'backoff'

/** Whether the write may have been committed although the call failed. */
export type Committed = 'no' | 'unknown'

const defaultRetry: Partial<Record<StatusCode, Retry>> = {
  ABORTED: 'request',
  RESOURCE_EXHAUSTED: 'backoff',
  UNAVAILABLE: 'backoff',
  DEADLINE_EXCEEDED: 'backoff',
  INTERNAL: 'once',
}

/** A mark by which instanceof works across copies of this module: a bundle has its own. */
const isDatastoreError = Symbol.for('sixtables.DatastoreError')

export class DatastoreError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: classes that extend this one inherit the method, and are meant by `this`
    if (this !== DatastoreError) return Function.prototype[Symbol.hasInstance].call(this, value)
    // biome-ignore-end lint/complexity/noThisInStatic: see above
    return typeof value === 'object' && value !== null && isDatastoreError in value
  }

  override readonly name = 'DatastoreError'
  readonly code: StatusCode
  readonly retry: Retry
  readonly committed: Committed
  readonly details: Readonly<Record<string, string>>

  constructor(
    code: StatusCode,
    message: string,
    options: Partial<Pick<DatastoreError, 'retry' | 'committed' | 'details' | 'cause'>> = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retry = options.retry ?? defaultRetry[code] ?? 'never'
    this.committed = options.committed ?? 'no'
    this.details = options.details ?? {}
  }
}

Object.defineProperty(DatastoreError.prototype, isDatastoreError, { value: true })

/** A message that begins with production's text, if that is known: programs search for it. */
export function worded(message: string, known: string | undefined): string {
  return known === undefined ? message : `${known} (${message})`
}

/** @param known - production's text, with which the message then begins */
export function invalidArgument(message: string, known?: string): DatastoreError {
  return new DatastoreError('INVALID_ARGUMENT', worded(message, known))
}

const transactionContention =
  'Aborted due to cross-transaction contention. This occurs when multiple transactions attempt to access the same data, ' +
  'requiring Datastore to abort at least one in order to enforce serializability.'
const groupContention = 'too much contention on these datastore entities. please try again.'

/** ABORTED: another commit was first. @param over - the contended rows of entities, or an entity group */
export function contention(message: string, retry: Retry, over: 'rows' | 'group' = 'rows'): DatastoreError {
  return new DatastoreError('ABORTED', worded(message, over === 'rows' ? transactionContention : groupContention), {
    retry,
  })
}

const fullGroup = { full: 'entity group' }

/** RESOURCE_EXHAUSTED for one entity group that has reached its size limit, unlike the error of an overloaded store. */
export function groupFull(message: string): DatastoreError {
  return new DatastoreError('RESOURCE_EXHAUSTED', message, { details: fullGroup })
}

export function isGroupFull(error: DatastoreError): boolean {
  return error.details['full'] === fullGroup.full
}

export function failedPrecondition(message: string, details?: Readonly<Record<string, string>>): DatastoreError {
  return new DatastoreError('FAILED_PRECONDITION', message, details === undefined ? {} : { details })
}

export function notFound(message: string): DatastoreError {
  return new DatastoreError('NOT_FOUND', message)
}

export function unimplemented(message: string): DatastoreError {
  return new DatastoreError('UNIMPLEMENTED', message)
}

/** The code of an error of the operating system, such as ENOENT; for another error its words. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
