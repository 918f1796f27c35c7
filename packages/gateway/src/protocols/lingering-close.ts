/**
 * The end of a connection whose client may still be sending.
 *
 * A socket that is closed while received bytes are unread sends a reset, and a client that is still sending may get the reset in
 * the place of its answer. So the rest is read and dropped before the close, for a limited time.
 *
 * LC1  A client that sends all of its request before it reads gets the answer of a refused one.   test/protocol/http.test.ts
 * LC2  A client that never ends its request is closed all the same.                              lingering-close.test.ts
 *
 * Known: RFC 9112, 9.6, and lingering_close of nginx.
 */
import type { Readable } from 'node:stream'

/** How long the rest of a request is read, from its answer on. */
export const lingerMs = 10_000

/**
 * Drops what comes, until the client has sent all, is gone, or the time is over.
 *
 * @param incoming - the request, or the socket when there is no request yet
 * @param close - called once, then
 */
export function dropThenClose(incoming: Readable, close: () => void): void {
  if (incoming.readableEnded || incoming.destroyed) {
    close()
    return
  }
  const finish = (): void => {
    clearTimeout(timer)
    incoming.off('end', finish)
    incoming.off('close', finish)
    close()
  }
  const timer = setTimeout(finish, lingerMs).unref()
  incoming.once('end', finish)
  incoming.once('close', finish)
  incoming.resume()
}
