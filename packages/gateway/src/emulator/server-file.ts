/**
 * The address of a running server, in a file of its data folder, so that tools find it by the folder.
 *
 *   <dir>/server.json       {"address": "127.0.0.1:41234", "project": "demo", "dir": "/data/shop", "pid": 4711,
 *                            "startedAt": "2026-11-22T09:00:00.000Z"}
 *   GET /emulator/server    the same object; in memory without `dir`, and with `sharedStore` where several gateways share the store,
 *                           and `resetRefusal` where it refuses resets
 *
 * The file is written under another name and renamed, so it is complete or absent.
 *
 * V1  The file counts only if the server at its address answers with the same object. A server that was killed leaves its file behind, and
 *     another server may have its port now. A file with the name of another folder is a copy.   test/contract/server-file.test.ts
 *
 * Known: `gcloud beta emulators datastore env-init --data-dir` finds its server by a file, too. Ours: the file, and the check.
 */
import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Router } from '../protocols/router.ts'

export interface ServerFacts {
  /** `host:port` for clients on this machine; IPv6 in brackets. */
  readonly address: string
  /** The project in its printed environment. */
  readonly project: string
  /** The data folder, without symbolic links; absent in memory and with a shared store. */
  readonly dir?: string | undefined
  /** Description of the store that gateways share; absent for a store of this process alone. */
  readonly sharedStore?: string | undefined
  /** The reason why resets are refused; absent if they are allowed. */
  readonly resetRefusal?: string | undefined
  readonly pid: number
  readonly startedAt: string
}

/** The state of a folder: a server that answers; a file without its server, with the evidence; or no file. */
export type FoundServer =
  | { readonly state: 'running'; readonly server: ServerFacts }
  | { readonly state: 'gone'; readonly server: ServerFacts; readonly reason: string }
  | { readonly state: 'none' }

export const serverFileName = 'server.json'
export const serverPath = '/emulator/server'

/** Time for the server's answer: on a busy machine a running server may need seconds. */
const answerMs = 10_000

export function addServerRoute(router: Router, facts: () => ServerFacts): void {
  router.add('GET', serverPath, () => ({ json: facts() }))
}

export function leaveAddress(dir: string, facts: ServerFacts): void {
  const file = join(dir, serverFileName)
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

export function removeAddress(dir: string): void {
  rmSync(join(dir, serverFileName), { force: true })
}

/** @param before - an earlier answer: a server that was gone is not asked again, since it may take {@link answerMs} */
export async function findServer(dir: string, before?: FoundServer): Promise<FoundServer> {
  const server = readServerFile(dir)
  if (server === undefined || server.dir !== realpathSync(dir)) return { state: 'none' }
  if (before?.state === 'gone' && isSame(before.server, server)) return before
  try {
    const told = await factsAt(server.address, answerMs)
    if (told !== undefined && isSame(told, server)) return { state: 'running', server }
    return { state: 'gone', server, reason: 'another program answers there' }
  } catch (error) {
    const reason =
      error instanceof Error && error.name === 'TimeoutError' ? `no answer in ${answerMs} ms` : causeOf(error)
    return { state: 'gone', server, reason }
  }
}

function isSame(a: ServerFacts, b: ServerFacts): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt
}

/** The object that a server at this address answers; `undefined` if it is none of ours. @throws the system's error, TimeoutError */
export async function factsAt(address: string, timeoutMs: number): Promise<ServerFacts | undefined> {
  const response = await fetch(`http://${address}${serverPath}`, { signal: AbortSignal.timeout(timeoutMs) })
  const told: unknown = await response.json().catch(() => undefined)
  return isServerFacts(told) ? told : undefined
}

/** @returns `undefined` without a file, or for one that is not ours */
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

export function causeOf(error: unknown): string {
  const code = codeOf(error)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return causes[code] ?? (code !== '' ? code : cause instanceof Error ? cause.message : String(cause))
}

/** The code of an error, such as `ECONNREFUSED`, which fetch wraps as its cause; empty if there is none. */
export function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** Messages for the codes of Node and its fetch (undici). */
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
