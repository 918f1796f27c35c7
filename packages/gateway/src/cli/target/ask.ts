/** Questions to a store as calls over HTTP (target.ts), and a running server as such a store. */

import { DatastoreError } from '@sixtables/engine'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import type { ProgressEvent } from '../../admin/emulator/progress.ts'
import { causeOf, codeOf } from '../../emulator/server-file.ts'
import { reasonOf } from '../../reason.ts'
import type { Io } from '../framework/command.ts'
import { OperationError, UsageError } from '../framework/errors.ts'

export interface Target {
  /** The server's address, or the folder, for messages. */
  readonly place: string
  readonly isRunning: boolean
  /** @throws UsageError without a server, OperationError if a server does not answer */
  fetch(path: string, request: RequestInit): Promise<Response>
}

/** The answer 404, or one that no sixtables gives: the server may be another emulator, or another version. */
export class NoSuchEndpoint extends OperationError {}

export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Parameters
  readonly body?: unknown
  readonly onProgress?: ((rows: number) => void) | undefined
}

export function serverAt(address: string): Target {
  return { place: address, isRunning: true, fetch: (path, request) => fetchServer(address, path, request) }
}

/**
 * The answer in JSON. Server and command line are of the same version, so its type is that of the endpoint.
 *
 * @throws OperationError or UsageError with the message of a refusal
 */
export async function ask<Answer>(
  target: Target,
  { method, path, query, body, onProgress }: Question,
): Promise<Answer> {
  const asked = path + queryOf(query, onProgress)
  if (onProgress !== undefined) return (await askLong(target, method, asked, onProgress)) as Answer
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await target.fetch(asked, { method, ...json })
  const text = (await bodyOf(target, response)).toString()
  if (!response.ok) throw refused(target, `${method} ${asked}`, { status: response.status, text })
  try {
    return JSON.parse(text)
  } catch {
    throw notUnderstood(target, method, asked)
  }
}

/** `?limit=5`; empty without parameters. */
function queryOf(parameters: Parameters = {}, onProgress: Question['onProgress']): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  if (onProgress !== undefined) given.push(['progress', 'true'])
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

function refused({ place }: Target, asked: string, { status, text }: { status: number; text: string }): Error {
  const words = `${place} answered ${status} to ${asked.replace(/\?.*$/, '')}`
  const { status: code, message } = errorIn(text)
  if (message !== undefined && status !== 404) return refusal(code, message)
  const unknown = status === 404 ? '; it is another emulator, or another version of sixtables' : ''
  return new NoSuchEndpoint(message ?? words + unknown)
}

function notUnderstood({ place }: Target, method: string, path: string): OperationError {
  return new NoSuchEndpoint(`${place} answered ${method} ${path.replace(/\?.*$/, '')} with something else than JSON`)
}

async function askLong(
  target: Target,
  method: Question['method'],
  path: string,
  onProgress: (rows: number) => void,
): Promise<unknown> {
  try {
    for await (const data of await openEvents(target, method, path)) {
      const event = JSON.parse(data) as ProgressEvent
      if ('progress' in event) onProgress(event.progress.rows)
      else if ('report' in event) return event.report
      else throw refusal(event.error.status, event.error.message)
    }
  } catch (error) {
    const isOurs = error instanceof OperationError || error instanceof UsageError || !target.isRunning
    throw isOurs ? error : goneServer(target, error)
  }
  throw goneServer(target)
}

/** Opens a stream of events. @returns the data of each event. @throws UsageError without a server, OperationError for any other answer */
export async function openEvents(
  target: Target,
  method: Question['method'],
  path: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<string>> {
  const response = await target.fetch(path, { method, ...(signal === undefined ? {} : { signal }) })
  if (!response.ok || response.body === null) {
    throw refused(target, `${method} ${path}`, { status: response.status, text: await response.text() })
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    await response.body.cancel()
    throw notUnderstood(target, method, path)
  }
  return eventData(response.body)
}

/**
 * Watches a server until the work ends or Ctrl-C stops it; `stop` does the same.
 *
 * @throws OperationError if the server goes away, which begins with `brokeOff`
 */
export async function untilStopped(
  io: Io,
  brokeOff: string,
  work: (stop: AbortController) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const release = io.onSignal(() => stop.abort())
  try {
    await work(stop)
  } catch (error) {
    if (stop.signal.aborted) return
    if (error instanceof OperationError || error instanceof UsageError) throw error
    throw new OperationError(`${brokeOff}: ${reasonOf(error)}`)
  } finally {
    release()
    stop.abort()
  }
}

function fetchServer(address: string, path: string, request: RequestInit): Promise<Response> {
  return fetch(`http://${address}${path}`, request).catch((error: unknown) => {
    const code = codeOf(error)
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new OperationError(
        `the server on ${address} is there, but has not answered in 300 s; it is busy, or this takes longer: look at ` +
          'sixtables top, and ask again',
      )
    }
    if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code)) throw goneServer({ place: address }, error)
    throw new UsageError(
      `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, name another with --endpoint, or open a ` +
        'folder with --data-dir',
    )
  })
}

/** The whole body of an answer. @throws OperationError if the server ends before */
export async function bodyOf(target: Target, response: Response): Promise<Buffer> {
  const bytes = await response.arrayBuffer().catch((error: unknown) => {
    throw goneServer(target, error)
  })
  return Buffer.from(bytes)
}

function goneServer({ place }: Pick<Target, 'place'>, error?: unknown): OperationError {
  const reason = error === undefined ? '' : ` (${causeOf(error)})`
  return new OperationError(
    `the server on ${place} went away before it had answered${reason}; look at its log; before you repeat a write, look whether it was done`,
  )
}

/** The parts of a google.rpc.Status in JSON; empty for another body. */
export function errorIn(body: string): { readonly status?: string; readonly message?: string } {
  try {
    const { status, message } = JSON.parse(body)?.error ?? {}
    return {
      ...(typeof status === 'string' ? { status } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    }
  } catch {
    return {}
  }
}

/**
 * An error of an engine or a server: a mistake in the request, such as INVALID_ARGUMENT, is a UsageError (exit code 2).
 *
 * @param code - a name of google.rpc.Code; `undefined` if the server sent none
 */
export function refusal(code: string | undefined, message: string): UsageError | OperationError {
  return code === 'INVALID_ARGUMENT' ? new UsageError(message) : new OperationError(message)
}

/** Reads something that the user wrote. @throws UsageError for what the engine refuses, in the engine's words or those of `say` */
export function understood<T>(read: () => T, say: (message: string) => string = (message) => message): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof DatastoreError ? new UsageError(say(error.message)) : error
  }
}

/** The data of each server-sent event: its `data:` lines up to a blank line. Comments and other fields are skipped. */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    for (;;) {
      const end = rest.indexOf('\n\n')
      if (end < 0) break
      const data = rest
        .slice(0, end)
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
      rest = rest.slice(end + 2)
      if (data.length > 0) yield data.join('\n')
    }
  }
}
