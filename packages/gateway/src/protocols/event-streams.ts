/**
 * Answers in pieces over HTTP/1.1: documents, such as all entities of a kind as a file, which are sent while they are made; and
 * server-sent events, such as the commits that the console shows, which continue until the client or the server closes.
 *
 *   data: {"atMs":…}          one event, JSON on one line
 *   (empty line)
 *
 * A reader of events that does not take a piece within {@link patienceMs} gets a last event that says so, and its stream ends. A document
 * waits for its reader. A document that fails after its first piece ends by cutting the connection, so that the client cannot take
 * the beginning for the whole. A slow reader gets fewer events, not a queue of them: an event is made after the one before was taken.
 *
 * Known: the format, WHATWG HTML "server-sent events".
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { within } from '../within.ts'
import type { StreamAnswer } from './http-calls.ts'
import { eventOf } from './router.ts'

/** Time for a reader of events to take one piece; at the end of a stream, to take everything before its connection is cut. */
const patienceMs = 30_000

export class EventStreams {
  readonly #open = new Set<AbortController>()
  readonly #patienceMs: number

  constructor(options: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = options.patienceMs ?? patienceMs
  }

  /** Sends a stream, and resolves at its end. Rejects if it fails; only before its first piece can the error be answered. */
  async send(response: ServerResponse, { contentType, headers, pieces, isPatient }: StreamAnswer): Promise<void> {
    const patience = isPatient ? undefined : this.#patienceMs
    const ending = new AbortController()
    const { signal } = ending
    const end = (): void => ending.abort()
    this.#open.add(ending)
    response.once('close', end)
    try {
      for await (const piece of pieces(signal)) {
        if (signal.aborted) break
        if (!response.headersSent) {
          response.writeHead(200, {
            'Content-Type': contentType,
            ...headers,
            'Cache-Control': 'no-store',
            // The connection ends with the stream, so that a closing server need not wait until it is idle.
            Connection: 'close',
            'X-Content-Type-Options': 'nosniff',
          })
        }
        if (response.write(piece) || (await drained(response, signal, patience))) continue
        if (!signal.aborted) drop(response, patience as number)
        break
      }
    } catch (error) {
      if (!signal.aborted) {
        // Marks the answer as incomplete for the client.
        if (response.headersSent) response.destroy()
        throw error
      }
    } finally {
      this.#open.delete(ending)
      response.off('close', end)
    }
    response.end()
  }

  close(): void {
    for (const ending of this.#open) ending.abort()
  }
}

/** Whether the reader takes all that was written before the time is over or the signal aborts. */
async function drained(response: ServerResponse, signal: AbortSignal, waitMs: number | undefined): Promise<boolean> {
  const taken = once(response, 'drain', { signal }).then(
    () => true,
    () => false,
  )
  return waitMs === undefined ? taken : (await within(waitMs, taken)) === true
}

/** Writes the last event for a reader that has stalled, and cuts its connection if it does not take that either. */
function drop(response: ServerResponse, waitMs: number): void {
  response.write(
    eventOf({ dropped: `the reader did not take its events for ${waitMs / 1000} s; open the stream anew to go on` }),
  )
  const timer = setTimeout(() => response.destroy(), waitMs).unref()
  response.once('close', () => clearTimeout(timer))
}
