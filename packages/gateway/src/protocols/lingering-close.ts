/**
 * The end of a connection whose client may still be sending.
 *
 * A socket that is closed with unread bytes sends a TCP reset, and a client that is still sending its 20 MB body may see the reset instead
 * of our answer 413. So the rest is read and dropped before the close, for 10 s at most, and such a client gets its answer.
 *
 * Known: RFC 9112, 9.6, and lingering_close of nginx.
 */
import type { Readable } from 'node:stream'

/** Maximum time for reading the rest of a request after its answer. */
export const lingerMs = 10_000

/**
 * Drops incoming data until the client has sent all, is gone, or the time is over; then calls `close` once.
 *
 * @param incoming - the request, or the socket if there is no request yet
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
