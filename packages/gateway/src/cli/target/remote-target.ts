/** A running server, asked over HTTP. */
import type { ProgressEvent } from '../../admin/emulator/progress.ts'
import { causeOf, codeOf } from '../../emulator/server-file.ts'
import { OperationError, UsageError } from '../framework/errors.ts'
import { eventData } from './events.ts'
import { refusal } from './refusal.ts'

/**
 * Asks a server for JSON.
 *
 * @param path - with its query
 * @throws UsageError if no server answers, OperationError with the message of a refusal
 */
export async function askServer(
  address: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetchServer(address, path, { method, ...json })
  const text = (await bodyOf(address, response)).toString()
  if (response.ok) {
    try {
      return JSON.parse(text)
    } catch {
      throw notUnderstood(address, method, path)
    }
  }
  throw refused(address, `${method} ${path}`, { status: response.status, text })
}
function refused(address: string, asked: string, { status, text }: { status: number; text: string }): Error {
  const unknown = status === 404 ? '; it is another emulator, or another version of sixtables' : ''
  const words = `${address} answered ${status} to ${asked.replace(/\?.*$/, '')}${unknown}`
  const { status: code, message = words } = errorIn(text)
  return refusal(code, message)
}

function notUnderstood(address: string, method: string, path: string): OperationError {
  return new OperationError(`${address} answered ${method} ${path.replace(/\?.*$/, '')} with something else than JSON`)
}

/**
 * Asks a server a long question, whose answer is a stream of events (admin/emulator/progress.ts).
 *
 * @param onProgress - called with the number of rows read so far
 */
export async function askLong(
  address: string,
  method: 'GET' | 'POST',
  path: string,
  onProgress: (rows: number) => void,
): Promise<unknown> {
  const events = await openEvents(address, method, path)
  const report = await reportIn(events, onProgress).catch((error: unknown) => {
    throw error instanceof OperationError || error instanceof UsageError ? error : goneServer(address, error)
  })
  if (report === undefined) throw goneServer(address)
  return report
}

/** The report at the end of a long question's events; `undefined` without one. @throws OperationError with the reason of a refusal */
export async function reportIn(
  events: AsyncIterable<string>,
  onProgress: ((rows: number) => void) | undefined,
): Promise<unknown> {
  for await (const data of events) {
    const event = JSON.parse(data) as ProgressEvent
    if ('progress' in event) onProgress?.(event.progress.rows)
    else if ('report' in event) return event.report
    else throw refusal(event.error.status, event.error.message)
  }
  return undefined
}

/**
 * Opens a stream of events.
 *
 * @returns the data of each event
 * @throws UsageError without a server, OperationError for any other answer
 */
export async function openEvents(
  address: string,
  method: 'GET' | 'POST',
  path: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<string>> {
  const response = await fetchServer(address, path, { method, ...(signal === undefined ? {} : { signal }) })
  if (!response.ok || response.body === null) {
    throw refused(address, `${method} ${path}`, { status: response.status, text: await response.text() })
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    await response.body.cancel()
    throw notUnderstood(address, method, path)
  }
  return eventData(response.body)
}

/** @throws UsageError without a server, OperationError if a server does not answer */
export function fetchServer(address: string, path: string, request: RequestInit): Promise<Response> {
  return fetch(`http://${address}${path}`, request).catch((error: unknown) => {
    const code = codeOf(error)
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new OperationError(
        `the server on ${address} is there, but has not answered in 300 s; it is busy, or this takes longer: look at ` +
          'sixtables top, and ask again',
      )
    }
    if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code)) throw goneServer(address, error)
    throw new UsageError(
      `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, name another with --endpoint, or open a ` +
        'folder with --data-dir',
    )
  })
}

/** The whole body of an answer. @throws OperationError if the server ends before */
export async function bodyOf(address: string, response: Response): Promise<Buffer> {
  const bytes = await response.arrayBuffer().catch((error: unknown) => {
    throw goneServer(address, error)
  })
  return Buffer.from(bytes)
}

function goneServer(address: string, error?: unknown): OperationError {
  const reason = error === undefined ? '' : ` (${causeOf(error)})`
  return new OperationError(
    `the server on ${address} went away before it had answered${reason}; look at its log; before you repeat a write, look whether it was done`,
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
