/**
 * The address that a running server leaves in its data folder, so that tools find it by the folder.
 *
 *   <dir>/server.json       {"address": "127.0.0.1:41234", "project": "demo", "dir": "/data/shop", "pid": 4711,
 *                            "startedAt": "2026-11-22T09:00:00.000Z"}
 *   GET /emulator/server    the same object; in memory without `dir`, and with `sharedStore` where several gateways share the store,
 *                           and `resetRefusal` where it refuses resets
 *
 * V1  The file is complete or absent: it is written under another name and renamed.
 * V2  A file counts only while the server at its address answers with the same object: a killed server leaves its file
 *     behind, and another server may have its port since. A file in another folder than it names was copied there.
 *
 * Known: `gcloud beta emulators datastore env-init --data-dir` finds its server so. Ours: the file, and that it is checked.
 */
import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Router } from '../protocols/router.ts'

export interface ServerFacts {
  /** `host:port` by which this machine reaches it, IPv6 in brackets. */
  readonly address: string
  /** The project of its printed environment. */
  readonly project: string
  /** Folder of the data, without symbolic links; absent in memory and at a shared store. */
  readonly dir?: string | undefined
  /** The store that several gateways may share, in words; absent = the store of this process alone. */
  readonly sharedStore?: string | undefined
  /** The reason why it refuses resets; absent = they are allowed. */
  readonly resetRefusal?: string | undefined
  readonly pid: number
  readonly startedAt: string
}

/** Content of a folder's server file: a server that answers; one that is gone, with the evidence; or no file. */
export type FoundServer =
  | { readonly state: 'running'; readonly server: ServerFacts }
  | { readonly state: 'gone'; readonly server: ServerFacts; readonly reason: string }
  | { readonly state: 'none' }

export const serverFileName = 'server.json'
export const serverPath = '/emulator/server'

/** How long the server may take to say who it is: on a busy machine one that runs may need seconds. */
const answerMs = 10_000

export function addServerRoute(router: Router, facts: () => ServerFacts): void {
  router.add('GET', serverPath, () => ({ json: facts() }))
}

/** Writes the file (V1). @throws the system's error */
export function leaveAddress(dir: string, facts: ServerFacts): void {
  const file = join(dir, serverFileName)
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/** Removes the file; harmless when it is gone. @throws the system's error */
export function removeAddress(dir: string): void {
  rmSync(join(dir, serverFileName), { force: true })
}

/** Finds the server of a folder (V2). */
export async function findServer(dir: string): Promise<FoundServer> {
  const server = readServerFile(dir)
  if (server === undefined || server.dir !== realpathSync(dir)) return { state: 'none' }
  try {
    const told = await factsAt(server.address, answerMs)
    if (told !== undefined && told.pid === server.pid && told.startedAt === server.startedAt) {
      return { state: 'running', server }
    }
    return { state: 'gone', server, reason: 'another program answers there' }
  } catch (error) {
    const reason =
      error instanceof Error && error.name === 'TimeoutError' ? `no answer in ${answerMs} ms` : causeOf(error)
    return { state: 'gone', server, reason }
  }
}

/** The facts that a server at an address tells; `undefined` = it is no server of ours. @throws the system's error, TimeoutError */
export async function factsAt(address: string, timeoutMs: number): Promise<ServerFacts | undefined> {
  const response = await fetch(`http://${address}${serverPath}`, { signal: AbortSignal.timeout(timeoutMs) })
  const told: unknown = await response.json().catch(() => undefined)
  return isServerFacts(told) ? told : undefined
}

/** `undefined`: no file, or one that is not ours. */
function readServerFile(dir: string): ServerFacts | undefined {
  try {
    const facts: unknown = JSON.parse(readFileSync(join(dir, serverFileName), 'utf8'))
    return isServerFacts(facts) ? facts : undefined
  } catch {
    return undefined
  }
}

function isServerFacts(value: unknown): value is ServerFacts {
  if (typeof value !== 'object' || value === null) return false
  const { address, project, pid, startedAt } = value as Partial<Record<keyof ServerFacts, unknown>>
  return [address, project, startedAt].every((one) => typeof one === 'string') && typeof pid === 'number'
}

/** The reason why a server did not answer, in words. */
export function causeOf(error: unknown): string {
  const code = codeOf(error)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return causes[code] ?? (code !== '' ? code : cause instanceof Error ? cause.message : String(cause))
}

/** `ECONNREFUSED` and the like, empty where there is none: fetch wraps the reason. */
export function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** Codes of Node and of its fetch (undici). */
const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  HPE_INVALID_CONSTANT: 'the answer is not HTTP',
}
