/**
 * Streams of calls that are over, which a busy session keeps open so that the collector of young objects has less to copy.
 *
 * node:http2 has the streams of a session in a Map. V8 moves a Map to a new table whenever it has grown, shrunk or had as many
 * entries deleted as it has room for, and leaves in the old table what was there, and a link to the new one. A full collection
 * moves the table of the moment among the old objects; from then on the chain of tables that began with it counts as alive for
 * each collection of young objects, with every stream in them, until the next full collection, which begins the next chain. As
 * calls come and go by sixteen the Map is moved six times for them, and no stream escapes. Where it always has some entries it
 * does not shrink, and moves once in several hundred calls (measured: 0.4 ms a collection instead of 4.7).
 *
 * A stream stays in the Map until its request is read to the end. So after the request of a call that is to be kept one more
 * byte is put before the end, and nobody reads it. For nghttp2, and for the client, the stream is over.
 *
 * S1  A stream is kept only when all of its request has come: nothing is held that a client could add to.    keep()
 * S2  What is kept is bounded, for a session and in all, and is let go of when the session closes.           kept-streams.test.ts
 *
 * Known: the code of V8's OrderedHashMap and of node:http2. Ours: the figures.
 */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

/** A session begins to keep streams after so many calls: most have fewer. */
const callsBefore = 1000
/** How many streams a session keeps, some 2.5 kB each; with them its Map has room for 512 and moves every 300 calls or so. */
const keptMax = 128
/** How often it is tried: some clients send the end of a request apart from it, and later. */
const triesMax = 8 * keptMax
/** How many streams all sessions keep. */
const allKeptMax = 64 * keptMax

const { NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE } = constants

/** What stands before the end of a stream that is kept, and is never looked at. */
const keepsake = Buffer.alloc(1)

/** How many streams may still be kept, by whichever session. */
export interface Room {
  left: number
}

export function roomToKeep(): Room {
  return { left: allKeptMax }
}

/** The kept streams of a session. */
export class KeptStreams {
  readonly #session: ServerHttp2Session
  readonly #room: Room
  readonly #streams: ServerHttp2Stream[] = []
  #calls = 0
  #tries = 0

  constructor(session: ServerHttp2Session, room: Room) {
    this.#session = session
    this.#room = room
  }

  get count(): number {
    return this.#streams.length
  }

  /** One more call has begun; tells whether its stream is to be kept. */
  wantsNext(): boolean {
    if (this.#calls < callsBefore) {
      this.#calls++
      return false
    }
    if (this.#streams.length >= keptMax || this.#tries >= triesMax) return false
    return this.#room.left > 0 && !this.#session.closed
  }

  /**
   * Keeps a stream of which a chunk was read, by holding back its end.
   *
   * @param tell - told, after the event loop's turn, whether the stream is kept, and will not tell of its end; otherwise it goes
   *   on to be read
   * @returns how many bytes that are not the client's come before anything else when it goes on
   */
  keep(stream: ServerHttp2Stream, tell: (isKept: boolean) => void): number {
    this.#tries++
    stream.pause()
    stream.unshift(keepsake)
    setImmediate(() => {
      if (stream.destroyed) return
      const isWhole =
        stream.readableLength === keepsake.length && stream.state.state === NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE
      const isKept = isWhole && this.wantsNext()
      if (isKept) {
        this.#streams.push(stream)
        this.#room.left--
      }
      tell(isKept)
      if (!isKept) stream.resume()
    })
    return keepsake.length
  }

  /** Lets go of all: the session ends, or is about to. */
  release(): void {
    this.#room.left += this.#streams.length
    for (const stream of this.#streams.splice(0)) stream.resume()
  }
}
