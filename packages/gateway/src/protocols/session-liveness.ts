/**
 * The watch over HTTP/2 sessions: it closes those that are dead although node:http2 does not say so.
 *
 * After a broken frame nghttp2, the library in Node, sends GOAWAY and from then on reads and writes nothing. Node emits no event for this,
 * and because it no longer reads, it does not notice either when the client closes the connection. One thing shows it from outside: a ping
 * is not written, although no answer waits for the client to read.
 *
 *   quiet for one look ─▶ ping ─┬─ written                    alive, or the client is gone: then no reply to the ping arrives
 *                               ├─ not written, no answers    dead: closed
 *                               └─ not written, answers wait  the client may not be reading: it has the time of admission.ts
 *
 * So a session that a broken frame has ended is closed at the second look after it. All of this is tested in overload.test.ts.
 */
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { Looks } from './looks.ts'

const lookMsMax = 500
/** A session that has been silent for this long gets a ping. */
const silenceMsDefault = 30_000
/** A reply may take this many times as long, counted in looks: a client at a breakpoint cannot answer. */
const patience = 10
const pingFrameBytes = 17

/** Outgoing data of a session. */
export interface Sending {
  /** Answers that are not completely written to the socket. */
  answers: number
}

interface Watched {
  readonly session: ServerHttp2Session
  readonly socket: Socket
  readonly sending: Readonly<Sending>
  bytesRead: number
  /** Whether it has received anything but ping replies since the last ping. */
  hasSpoken: boolean
  silentMs: number
  /** Looks until the reply to the current ping is late. */
  looksLeft: number | undefined
}

export class SessionLiveness {
  readonly #watched = new Set<Watched>()
  readonly #silenceMs: number
  readonly #looks: Looks
  readonly #looksMax: number

  constructor(silenceMs: number = silenceMsDefault) {
    this.#silenceMs = silenceMs
    this.#looks = new Looks(Math.min(lookMsMax, silenceMs), () => this.#look())
    this.#looksMax = this.#looks.of(patience * silenceMs)
  }

  /** @param socket - the session's own; its byte counts show what the session does */
  watch(session: ServerHttp2Session, socket: Socket, sending: Readonly<Sending>): void {
    const watched: Watched = {
      ...{ session, socket, sending },
      bytesRead: 0,
      hasSpoken: true,
      silentMs: 0,
      looksLeft: undefined,
    }
    this.#watched.add(watched)
    session.once('close', () => {
      this.#watched.delete(watched)
      if (this.#watched.size === 0) this.end()
    })
    this.#looks.begin()
  }

  end(): void {
    this.#looks.end()
  }

  /** One timer for all sessions: a timeout in each would be reset by every frame, for 1 µs of a call. */
  #look(): void {
    for (const watched of this.#watched) {
      if (watched.looksLeft !== undefined && --watched.looksLeft < 0) {
        watched.session.destroy()
        continue
      }
      const { bytesRead } = watched.socket
      if (bytesRead !== watched.bytesRead) {
        watched.bytesRead = bytesRead
        watched.hasSpoken = true
        watched.silentMs = 0
        continue
      }
      watched.silentMs += this.#looks.everyMs
      const isDue = watched.hasSpoken || watched.silentMs >= this.#silenceMs
      if (isDue && watched.looksLeft === undefined) this.#ask(watched)
    }
  }

  #ask(watched: Watched): void {
    const { session, socket, sending } = watched
    if (session.destroyed) return
    watched.hasSpoken = false
    watched.silentMs = 0
    watched.looksLeft = this.#looksMax
    const { bytesWritten } = socket
    const isTaken = session.ping((error) => {
      watched.looksLeft = undefined
      if (error !== null) session.destroy()
      else if (socket.bytesRead === watched.bytesRead + pingFrameBytes) watched.bytesRead = socket.bytesRead
    })
    if (!isTaken) {
      session.destroy()
      return
    }
    // Node writes frames in an immediate of its own.
    const judge = (): void => {
      const isUnsent = watched.looksLeft !== undefined && socket.bytesWritten === bytesWritten
      if (isUnsent && sending.answers === 0) session.destroy()
    }
    setImmediate(() => setImmediate(judge))
  }
}
