/**
 * A running server, asked over HTTP (the addresses are in target.ts).
 */
import { OperationError, UsageError } from './errors.ts'
import type { Target, TypedKey } from './target.ts'

/** @param address - `host:port`, IPv6 in brackets */
export function remoteTarget(address: string): Target {
  async function ask<Report>(method: 'GET' | 'POST', what: string, query: Record<string, string>): Promise<Report> {
    const url = `http://${address}/emulator/inspect/${what}?${new URLSearchParams(query)}`
    const response = await fetch(url, { method }).catch((error: unknown) => {
      throw new UsageError(
        `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, name another with ` +
          '--endpoint, or open a folder with --data-dir',
      )
    })
    const body = await response.text()
    if (response.ok) return JSON.parse(body)
    throw new OperationError(messageIn(body) ?? `${address} answered ${response.status} to ${what}`)
  }
  return {
    check: ({ repair }) => ask('POST', 'check', repair ? { repair: 'true' } : {}),
    rows: (key) => ask('GET', 'rows', queryOf(key)),
    log: (key) => ask('GET', 'log', queryOf(key)),
    pending: () => ask('GET', 'pending', {}),
    release: (key, milestone) => ask('POST', 'release', { ...queryOf(key), milestone }),
    close: async () => {},
  }
}

function queryOf({ project, database, namespace, path }: TypedKey): Record<string, string> {
  return { project, database, namespace, key: path }
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
