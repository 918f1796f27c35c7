/**
 * A running server, asked over HTTP.
 */
import { inspectionPath, methodOf } from '../admin/inspection.ts'
import { OperationError, UsageError } from './errors.ts'
import type { Target } from './target.ts'

/** @param address - `host:port`, IPv6 in brackets */
export function remoteTarget(address: string): Target {
  return {
    async ask(what, parameters) {
      const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const url = `http://${address}${inspectionPath}${what}?${new URLSearchParams(given)}`
      const response = await fetch(url, { method: methodOf(what) ?? 'GET' }).catch((error: unknown) => {
        throw new UsageError(
          `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, name another with ` +
            '--endpoint, or open a folder with --data-dir',
        )
      })
      const body = await response.text()
      if (response.ok) return JSON.parse(body)
      throw new OperationError(messageIn(body) ?? `${address} answered ${response.status} to ${what}`)
    },
    close: async () => {},
  }
}

/** `ECONNREFUSED` and the like: fetch wraps the reason. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return cause instanceof Error ? cause.message : String(cause)
}

/** The message of a google.rpc.Status in JSON, as the server answers errors. */
function messageIn(body: string): string | undefined {
  try {
    const message: unknown = JSON.parse(body)?.error?.message
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
