/**
 * Answers in pieces over HTTP/1.1: documents that are sent while they are made, and server-sent events, which go on until the
 * client or the server closes.
 *
 *   data: {"atMs":…}          one event, JSON on one line
 *   (empty line)
 *
 * V1  A reader that is slow gets fewer events; nothing piles up for it.      the next one is made after the last was taken
 * V4  A reader of events that does not take a piece in {@link patienceMs} is told so and its stream ends; a document waits for its
 *     reader.                                                                test/protocol/event-streams.test.ts
 * V2  A stream ends when its reader goes, and when the server closes.        test/protocol/event-streams.test.ts
 * V3  A document that fails on its way ends its connection before its end.   same
 *
 * Known: the format, WHATWG HTML "server-sent events".
 */
import type { ServerResponse } from 'node:http'
import { type Document, type Events, eventOf } from './router.ts'

/** So long a reader of events may take for a piece, and so long for all that is left when its stream ends, before its connection is cut. */
const patienceMs = 30_000

export class EventStreams {
  readonly #open = new Set<AbortController>()
  readonly #patienceMs: number

  constructor(options: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = options.patienceMs ?? patienceMs
  }

  /** Server-sent events. Resolves when the stream is over. Rejects, with nothing sent, when the first event cannot be made. */
  send(response: ServerResponse, events: Events): Promise<void> {
    return this.#send(response, events, { 'Content-Type': 'text/event-stream' }, this.#patienceMs)
  }

  /** A document. As {@link send}. */
  sendDocument(response: ServerResponse, { contentType, fileName, pieces }: Document): Promise<void> {
    // RFC 6266; the name goes percent-encoded, whatever characters a kind or a namespace has.
    const name = fileName === undefined ? undefined : `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`
    return this.#send(response, pieces, {
      'Content-Type': contentType,
      ...(name === undefined ? {} : { 'Content-Disposition': name }),
    })
  }

  async #send(
    response: ServerResponse,
    pieces: (signal: AbortSignal) => AsyncIterable<Buffer | string>,
    head: Readonly<Record<string, string>>,
    patience?: number,
  ): Promise<void> {
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
            ...head,
            'Cache-Control': 'no-store',
            // The end of the stream is the end of its connection: a closing server need not wait for it to go idle.
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
        // The client must not take the beginning for the whole.
        if (response.headersSent) response.destroy()
        throw error
      }
    } finally {
      this.#open.delete(ending)
      response.off('close', end)
    }
    response.end()
  }

  /** Ends all streams. */
  close(): void {
    for (const ending of this.#open) ending.abort()
  }
}

/** Whether the reader takes all that was written, in time and before the signal aborts. */
function drained(response: ServerResponse, signal: AbortSignal, waitMs: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const over = (isDrained: boolean): void => {
      clearTimeout(timer)
      response.off('drain', onDrain)
      signal.removeEventListener('abort', onAbort)
      resolve(isDrained)
    }
    const onDrain = (): void => over(true)
    const onAbort = (): void => over(false)
    const timer = waitMs === undefined ? undefined : setTimeout(onAbort, waitMs)
    response.once('drain', onDrain)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

/** Writes the last event for a reader that has stalled. Its connection is cut if it does not take that. */
function drop(response: ServerResponse, waitMs: number): void {
  response.write(
    eventOf({ dropped: `the reader did not take its events for ${waitMs / 1000} s; open the stream anew to go on` }),
  )
  const timer = setTimeout(() => response.destroy(), waitMs).unref()
  response.once('close', () => clearTimeout(timer))
}
