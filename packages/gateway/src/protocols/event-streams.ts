/**
 * Server-sent events over HTTP/1.1: answers that go on until the client or the server closes.
 *
 *   data: {"atMs":…}          one event, JSON on one line
 *   (empty line)
 *
 * V1  A reader that is slow gets fewer events; nothing piles up for it.      the next one is made after the last was taken
 * V2  A stream ends when its reader goes, and when the server closes.        test/protocol/event-streams.test.ts
 *
 * Known: the format, WHATWG HTML "server-sent events".
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Events } from './router.ts'

export class EventStreams {
  readonly #open = new Set<AbortController>()

  /** Resolves when the stream is over. Rejects, with nothing sent, when the first event cannot be made. */
  async send(response: ServerResponse, events: Events): Promise<void> {
    const ending = new AbortController()
    const { signal } = ending
    const end = (): void => ending.abort()
    this.#open.add(ending)
    response.once('close', end)
    try {
      for await (const event of events(signal)) {
        if (signal.aborted) break
        if (!response.headersSent) {
          response.writeHead(200, {
            'Content-Type': 'text/event-stream',
            'Cache-Control': 'no-store',
            // The end of the stream is the end of its connection: a closing server need not wait for it to go idle.
            Connection: 'close',
            'X-Content-Type-Options': 'nosniff',
          })
        }
        if (!response.write(event)) await once(response, 'drain', { signal })
      }
    } catch (error) {
      if (!signal.aborted) throw error
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
