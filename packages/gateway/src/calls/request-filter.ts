/** Which recorded requests a reader asks for, by the parameters of a query. */
import { invalidArgument, statusCodes } from '@sixtables/engine'
import type { RecordedRequest } from './request-recorder.ts'

export type RequestFilter = (request: RecordedRequest) => boolean

const methods = [
  'lookup',
  'runQuery',
  'runAggregationQuery',
  'beginTransaction',
  'commit',
  'rollback',
  'allocateIds',
  'reserveIds',
]
const codes = ['OK', 'error', ...Object.keys(statusCodes)]
const protocols = ['grpc', 'json', 'protobuf']

/** Tests by parameter. Each gets its value, and gives the test of a request. */
const filters: Readonly<Record<string, (value: string) => RequestFilter>> = {
  method: (value) => {
    const wanted = oneOf('method', value.split(','), methods)
    return ({ method }) => wanted.includes(method)
  },
  kind: (value) => (request) => request.kinds?.includes(value) === true,
  code: (value) => {
    const wanted = oneOf('code', value.split(','), codes)
    return ({ code }) => wanted.includes(code) || (code !== 'OK' && wanted.includes('error'))
  },
  slower: (value) => {
    const min = Number(value)
    if (value === '' || !(min >= 0)) throw invalidArgument(`slower is a number of milliseconds, not "${value}"`)
    return ({ ms }) => ms >= min
  },
  transaction: (value) => (request) =>
    value === 'any' ? request.transaction !== undefined : request.transaction?.endsWith(value) === true,
  project: (value) => (request) => request.project === value,
  database: (value) => {
    const id = value === '(default)' ? '' : value
    return (request) => request.database === id
  },
  namespace: (value) => (request) =>
    value === '' ? request.namespaces === undefined : request.namespaces?.includes(value) === true,
  protocol: (value) => {
    const wanted = oneOf('protocol', value.split(','), protocols)
    return ({ protocol }) => wanted.includes(protocol)
  },
}

const filterNames: readonly string[] = Object.keys(filters)

/**
 * @param others - parameters that mean something else
 * @returns `undefined` for all requests
 * @throws INVALID_ARGUMENT for what is none, and for values that cannot be
 */
export function requestFilter(query: URLSearchParams, others: readonly string[] = []): RequestFilter | undefined {
  const tests: RequestFilter[] = []
  for (const [name, value] of query) {
    if (others.includes(name)) continue
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined
    if (filter === undefined) {
      throw invalidArgument(`there is no parameter "${name}" here; there is ${[...filterNames, ...others].join(', ')}`)
    }
    tests.push(filter(value))
  }
  return tests.length === 0 ? undefined : (request) => tests.every((test) => test(request))
}

function oneOf(name: string, values: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = values.find((value) => !known.includes(value))
  if (unknown === undefined) return values
  throw invalidArgument(`${name} is ${known.join(', ')}, or several of them with commas, not "${unknown}"`)
}
