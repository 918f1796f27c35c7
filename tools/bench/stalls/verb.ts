/** A call beside which a heartbeat is measured, and the server that it goes to. */
import type { Connection } from '../wire/connection.ts'

export interface Target {
  readonly port: number
  readonly connection: Connection
  /** Entities of the kind that is read. */
  readonly size: number
  /** An empty folder for what is exported. */
  readonly folder: string
}

export interface Verb {
  readonly name: string
  run(target: Target): Promise<void>
}

/** Calls an HTTP path. @throws with the server's words when it refuses */
export async function call(
  { port }: Target,
  path: string,
  body?: unknown,
  method: string = body === undefined ? 'GET' : 'POST',
): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
  return text
}
