/**
 * Calls of the server's HTTP API. Every call says that it comes from the console, so that the server leaves it out of
 * requests, heat, statistics and findings.
 *
 * A call that does not reach the server tells the connection so, and fails with {@link ServerGone}. State is changed by POST, PATCH
 * and DELETE with a JSON body alone.
 */
import type { DatabaseName } from '../model/scope.ts'
import { lost, watcherHeaders } from './connection.ts'

export class ApiError extends Error {
  /** Name of the gRPC code, such as `NOT_FOUND`. */
  readonly status: string

  constructor(status: string, message: string) {
    super(message)
    this.status = status
  }
}

export class ServerGone extends Error {}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export function getJson<T>(path: string, options: CallOptions = {}): Promise<T> {
  return call('GET', path, undefined, options)
}

export function postJson<T>(path: string, body: unknown = {}, options: CallOptions = {}): Promise<T> {
  return call('POST', path, body, options)
}

export function patchJson<T>(path: string, body: unknown, options: CallOptions = {}): Promise<T> {
  return call('PATCH', path, body, options)
}

export function deleteJson<T>(path: string, options: CallOptions = {}): Promise<T> {
  return call('DELETE', path, {}, options)
}

const json = { 'Content-Type': 'application/json' }
const noAnswer = 'The server does not answer.'

/** An answer as it came: for streams and files. @throws ServerGone, ApiError; AbortError when the signal aborts */
export async function send(method: string, path: string, body: unknown, { signal }: CallOptions = {}) {
  const init = {
    method,
    headers: { ...watcherHeaders, ...(body === undefined ? {} : json) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    cache: 'no-store',
  } as const
  const response = await reached(fetch(path, init), noAnswer, signal)
  if (!response.ok) throw await errorOf(response)
  return response
}

/** The answer to a call that the user makes by hand: it counts as any client's, and errors are answers too. @throws ServerGone */
export async function sendByHand(path: string, body: string) {
  const response = await reached(fetch(path, { method: 'POST', headers: json, body, cache: 'no-store' }), noAnswer)
  return { status: response.status, text: await reached(response.text(), noAnswer) }
}

export function settingsPath({ project, database }: DatabaseName): string {
  return `/emulator/v1/projects/${encodeURIComponent(project)}/databases/${encodeURIComponent(database || '(default)')}/settings`
}

/** The parts of a body as they come; a loop that ends early ends the body. By a reader: Safari has no loop over a stream. */
export async function* partsOf<T>(stream: ReadableStream<T> | null | undefined): AsyncGenerator<T> {
  const reader = stream?.getReader()
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) yield part.value
  } finally {
    await reader?.cancel()
  }
}

async function call<T>(method: string, path: string, body: unknown, options: CallOptions): Promise<T> {
  const response = await send(method, path, body, options)
  const text = await reached(response.text(), 'The server went away while it answered.', options.signal)
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json') === true
  return (isJson ? JSON.parse(text) : text) as T
}

/** Waits for the server. @param words - those of the error where it cannot be reached @throws ServerGone, or AbortError */
async function reached<T>(answer: Promise<T>, words: string, signal?: AbortSignal): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (signal?.aborted === true) throw error
    lost()
    throw new ServerGone(words)
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  try {
    const { error } = JSON.parse(text) as { error: { status?: string; message?: string } }
    return new ApiError(error.status ?? `HTTP ${response.status}`, error.message ?? text)
  } catch {
    return new ApiError(`HTTP ${response.status}`, text.trim() || response.statusText)
  }
}
