/**
 * A running server, asked over HTTP.
 */
import { inspectionPath, methodOf } from '../admin/inspection.ts'
import { causeOf } from '../emulator/server-file.ts'
import { OperationError, UsageError } from './errors.ts'
import type { Target } from './target.ts'

/** @param address - `host:port`, IPv6 in brackets */
export function remoteTarget(address: string): Target {
  return {
    ask(what, parameters) {
      const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const path = `${inspectionPath}${what}?${new URLSearchParams(given)}`
      return askServer(address, methodOf(what) ?? 'GET', path)
    },
    close: async () => {},
  }
}

/**
 * Asks a server for JSON.
 *
 * @param path - with its query
 * @throws UsageError when none answers, OperationError with what it has against the question
 */
export async function askServer(
  address: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetchServer(address, path, { method, ...json })
  const text = await response.text()
  if (response.ok) {
    try {
      return JSON.parse(text)
    } catch {
      throw new OperationError(
        `${address} answered ${method} ${path.replace(/\?.*$/, '')} with something else than JSON`,
      )
    }
  }
  const unknown = response.status === 404 ? '; it is another emulator, or another version of sixtables' : ''
  const [asked] = path.split('?')
  throw new OperationError(messageIn(text) ?? `${address} answered ${response.status} to ${method} ${asked}${unknown}`)
}

/** @throws UsageError when nobody answers */
export function fetchServer(address: string, path: string, request: RequestInit): Promise<Response> {
  return fetch(`http://${address}${path}`, request).catch((error: unknown) => {
    throw new UsageError(
      `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, name another with ` +
        '--endpoint, or open a folder with --data-dir',
    )
  })
}

/** The message of a google.rpc.Status in JSON, as the server answers errors. */
export function messageIn(body: string): string | undefined {
  try {
    const message: unknown = JSON.parse(body)?.error?.message
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
