/**
 * Answers in pieces over HTTP/1.1: documents that are sent while they are made, and server-sent events, which go on until the
 * client or the server closes.
 *
 *   data: {"atMs":…}          one event, JSON on one line
 *   (empty line)
 *
 * V1  A reader that is slow gets fewer events; nothing piles up for it.      the next one is made after the last was taken
 * V2  A stream ends when its reader goes, and when the server closes.        test/protocol/event-streams.test.ts
 * V3  A document that fails on its way ends its connection before its end.   same
 *
 * Known: the format, WHATWG HTML "server-sent events".
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Document, Events } from './router.ts'

export class EventStreams {
  readonly #open = new Set<AbortController>()

  /** Server-sent events. Resolves when the stream is over. Rejects, with nothing sent, when the first event cannot be made. */
  send(response: ServerResponse, events: Events): Promise<void> {
    return this.#send(response, events, { 'Content-Type': 'text/event-stream' })
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
        if (!response.write(piece)) await once(response, 'drain', { signal })
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
