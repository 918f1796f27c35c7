/** A filter of recorded requests, from the parameters of a URL such as `?method=commit&kind=ToDo`. */

import { invalidArgument, statusCodes } from '@sixtables/engine'
import { checkParameters, databaseIdOf } from '../convert/parameters.ts'
import { methodNames } from '../methods.ts'
import type { RecordedRequest } from './request-recorder.ts'

export type RequestFilter = (request: RecordedRequest) => boolean

const methods = Object.keys(methodNames)
const codes = ['OK', 'error', ...Object.keys(statusCodes)]
const protocols = ['grpc', 'json', 'protobuf']

/** Filters by parameter. Each gets the parameter's value, and its name for messages. */
const filters: Readonly<Record<string, (value: string, name: string) => RequestFilter>> = {
  method: (value, name) => {
    const wanted = oneOf(name, value.split(','), methods)
    return ({ method }) => wanted.includes(method)
  },
  text: (value) => {
    const wanted = value.toLowerCase()
    return ({ method, code, key, message, transaction, kinds = [], namespaces = [] }) =>
      [method, code, key, message, transaction, ...kinds, ...namespaces].some(
        (text) => text?.toLowerCase().includes(wanted) === true,
      )
  },
  kind: (value) => (request) => request.kinds?.includes(value) === true,
  code: (value, name) => {
    const wanted = oneOf(name, value.split(','), codes)
    return ({ code }) => wanted.includes(code) || (code !== 'OK' && wanted.includes('error'))
  },
  slower: (value, name) => {
    const min = Number(value)
    if (value === '' || !(min >= 0)) throw invalidArgument(`${name} is a number of milliseconds, not "${value}"`)
    return ({ ms }) => ms >= min
  },
  transaction: (value) => (request) =>
    value === 'any' ? request.transaction !== undefined : request.transaction?.endsWith(value) === true,
  project: (value) => (request) => request.project === value,
  database: (value) => {
    const id = databaseIdOf(value)
    return (request) => request.database === id
  },
  namespace: (value) => (request) =>
    value === '' ? request.namespaces === undefined : request.namespaces?.includes(value) === true,
  protocol: (value, name) => {
    const wanted = oneOf(name, value.split(','), protocols)
    return ({ protocol }) => wanted.includes(protocol)
  },
}

/**
 * @param others - parameters with another meaning
 * @param nameOf - the name of a parameter in messages
 * @returns `undefined` for all requests
 * @throws INVALID_ARGUMENT for unknown parameters and impossible values
 */
export function requestFilter(
  query: URLSearchParams,
  others: readonly string[] = [],
  nameOf: (parameter: string) => string = (parameter) => parameter,
): RequestFilter | undefined {
  checkParameters(query, [...Object.keys(filters), ...others])
  const tests: RequestFilter[] = []
  for (const [name, value] of query) {
    const test = filters[name]?.(value, nameOf(name))
    if (test !== undefined) tests.push(test)
  }
  return tests.length === 0 ? undefined : (request) => tests.every((test) => test(request))
}

function oneOf(name: string, values: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = values.find((value) => !known.includes(value))
  if (unknown === undefined) return values
  throw invalidArgument(`${name} is ${known.join(', ')}, or several of them with commas, not "${unknown}"`)
}
