/**
 * One port for HTTP/1.1 and HTTP/2: the first bytes of a connection say which it is.
 *
 *   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"   HTTP/2 with prior knowledge (gRPC without TLS)
 *   A…Z and what follows of a verb       HTTP/1.1
 *   anything else (TLS, noise)           closed
 *
 * The bytes are put back, and the connection is handed to a server that does not listen itself.
 *
 * O1  A connection that does not say what it is within the time limit is closed.    port.test.ts
 * O2  No byte is lost or read twice by looking.                                      port.test.ts
 * O3  A connection that has said nothing yet does not hold up the end.               port.test.ts
 */
import { createServer, type Server, type Socket } from 'node:net'

export interface Connections {
  /** Takes over a connection whose first bytes are readable again. */
  http1(socket: Socket, isTooMany: boolean): void
  http2(socket: Socket, isTooMany: boolean): void
}

export interface PortOptions {
  readonly connections: Connections
  /** How long a connection may stay silent, or undecided, before it is closed. */
  readonly firstBytesTimeoutMs?: number
  /** Connections above it are handed over to be refused, a few of them; the others are closed at once. */
  readonly connectionsMax?: number
}

export interface Address {
  readonly host: string
  readonly port: number
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
/** Connections above the limit that are told so at a time. */
const refusedMax = 64
const firstBytesTimeoutMsDefault = 10_000
/** How long a silent connection is still listened to after the end was asked for: its bytes may be under way. */
const silentAtEndMs = 100
/** Verbs are not longer; a first line without a blank by then is no HTTP. */
const verbBytesMax = 24

type Protocol = 'http1' | 'http2' | 'unknown' | 'undecided'

/** The protocol of a connection, by its first bytes. */
export function protocolOf(bytes: Buffer): Protocol {
  const shared = Math.min(bytes.length, preface.length)
  if (bytes.compare(preface, 0, shared, 0, shared) === 0) return shared === preface.length ? 'http2' : 'undecided'
  for (let i = 0; i < bytes.length && i < verbBytesMax; i++) {
    const byte = bytes[i] ?? 0
    if (byte === 0x20) return i > 0 ? 'http1' : 'unknown'
    // Verbs are upper-case letters, some with a dash; a line break before the verb is allowed by HTTP/1.1.
    const leading = i === 0 && (byte === 0x0d || byte === 0x0a)
    if (leading) return 'http1'
    if ((byte < 0x41 || byte > 0x5a) && byte !== 0x2d) return 'unknown'
  }
  return bytes.length < verbBytesMax ? 'undecided' : 'unknown'
}

/** A listening server, and the connections that it still has. */
export class Port {
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  /** Those of which no byte was read: browsers and fetch() open connections that they may never use. */
  readonly #silent = new Set<Socket>()
  readonly #options: PortOptions

  constructor(options: PortOptions) {
    this.#options = options
  }

  /** Listens on one more address; port 0 takes a free one. */
  listen({ host, port }: Address): Promise<Address> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        this.#servers.push(server)
        const address = server.address()
        if (address === null || typeof address === 'string') reject(new Error(`no address of ${host}:${port}`))
        else resolve({ host: address.address, port: address.port })
      })
    })
  }

  #accept(socket: Socket): void {
    const connectionsMax = this.#options.connectionsMax ?? Number.POSITIVE_INFINITY
    const isTooMany = this.#sockets.size >= connectionsMax
    if (this.#sockets.size >= connectionsMax + refusedMax) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    this.#silent.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#silent.delete(socket)
    })
    // Until a protocol takes over, errors of the connection are ignored; afterwards the protocol handles them.
    const ignore = (): void => {}
    socket.on('error', ignore)
    let isDecided = false
    const endUndecided = (): void => {
      if (!isDecided) socket.destroy()
    }
    // A process that stood still reads the bytes that wait for it before it judges them late.
    const judge = (): void => void setImmediate(endUndecided)
    const timer = setTimeout(judge, this.#options.firstBytesTimeoutMs ?? firstBytesTimeoutMsDefault)
    timer.unref()
    const stop = (): void => {
      isDecided = true
      clearTimeout(timer)
      socket.off('readable', onReadable)
      socket.off('end', onEnd)
    }
    let seen: Buffer = Buffer.alloc(0)
    const onReadable = (): void => {
      const chunk: unknown = socket.read()
      if (!(chunk instanceof Buffer)) return
      this.#silent.delete(socket)
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
      const protocol = protocolOf(seen)
      if (protocol === 'undecided') return
      stop()
      if (protocol === 'unknown') {
        socket.destroy()
        return
      }
      socket.unshift(seen)
      this.#options.connections[protocol](socket, isTooMany)
    }
    const onEnd = (): void => {
      stop()
      socket.destroy()
    }
    socket.on('readable', onReadable)
    socket.once('end', onEnd)
    socket.once('close', () => clearTimeout(timer))
  }

  /** Stops listening; connections that are there stay, except those that remain silent. */
  stop(): void {
    for (const server of this.#servers.splice(0)) server.close()
    // The timer holds the set alone: it is emptied as connections end, where a port would keep its engine.
    if (this.#silent.size > 0) setTimeout(destroyUnheard, silentAtEndMs, this.#silent).unref()
  }

  /** Ends what connections are left. */
  destroyConnections(): void {
    destroyAll(this.#sockets)
  }

  /** Resolves when no connection is left, or after `ms` milliseconds; tells whether none is left. */
  async drained(ms: number): Promise<boolean> {
    const until = performance.now() + ms
    while (this.#sockets.size > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return this.#sockets.size === 0
  }
}

/** After the next look at the sockets: where the process stood still, bytes may have come that it has not read. */
function destroyUnheard(silent: ReadonlySet<Socket>): void {
  setImmediate(destroyAll, silent)
}

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
