/**
 * One port for HTTP/1.1 and HTTP/2: the first bytes of a connection show its protocol.
 *
 *   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"   HTTP/2 with prior knowledge (gRPC without TLS)
 *   anything else                        HTTP/1.1, which answers TLS and noise with 400
 *
 * The path of a Lookup from here, by file:
 *
 *   gRPC    http2-server (guard, admission) ─▶ grpc (frames) ─▶ fair-queue ─▶ handlers/lookup ─▶ grpc ─▶ http2-server
 *   HTTP    http (guard, admission) ─▶ http-calls ─▶ http-exchange ─▶ wire-form ─▶ fair-queue ─▶ handlers/lookup ─▶ wire-form ─▶ http-exchange
 *
 * The bytes are put back unchanged, and the connection is handed to the server of its protocol, a few in each turn of the event loop. A
 * connection that does not show its protocol within the time limit is closed, and one that has sent nothing does not delay the end of the
 * server.
 */
import { createServer, type Server, type Socket } from 'node:net'

export interface Connections {
  /** Takes over a connection; its first bytes can be read again. */
  http1(socket: Socket, isTooMany: boolean): void
  http2(socket: Socket, isTooMany: boolean): void
}

export interface PortOptions {
  readonly connections: Connections
  /** Longest time before a connection shows its protocol. */
  readonly firstBytesTimeoutMs?: number
  /** Limit of connections. A few above it are handed over and refused with an error; the others are closed at once. */
  readonly connectionsMax?: number
}

export interface Address {
  readonly host: string
  readonly port: number
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
/** Maximum number of connections above the limit that get an error at a time. */
const refusedMax = 64
const firstBytesTimeoutMsDefault = 10_000
/** Connections that are handed over in a turn. Opening an HTTP/2 session and its first call takes some 0.3 ms. */
const handedMax = 8
/** Time after the end was asked for in which a silent connection may still send: its bytes may be on the way. */
const silentAtEndMs = 100
/** No verb is longer. */
const verbBytesMax = 24

type Protocol = 'http1' | 'http2' | 'undecided'

/** The protocol of a connection, by its first bytes. */
export function protocolOf(bytes: Buffer): Protocol {
  const shared = Math.min(bytes.length, preface.length)
  if (bytes.compare(preface, 0, shared, 0, shared) === 0) return shared === preface.length ? 'http2' : 'undecided'
  // A verb may still be on its way: upper-case letters, some with a dash.
  return bytes.length < verbBytesMax && /^[A-Z-]*$/.test(bytes.toString('latin1')) ? 'undecided' : 'http1'
}

export class Port {
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  /** Connections without a single byte: browsers and fetch() open some that they may never use. */
  readonly #silent = new Set<Socket>()
  readonly #options: PortOptions
  readonly #waiting: (() => void)[] = []
  #isHanding = false

  constructor(options: PortOptions) {
    this.#options = options
  }

  /** Listens on one more address; port 0 chooses a free one. */
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
    // The protocol handles errors after it takes over.
    const ignore = (): void => {}
    socket.on('error', ignore)
    let isDecided = false
    const endUndecided = (): void => {
      if (!isDecided) socket.destroy()
    }
    // After a standstill of the process, waiting bytes are read before the connection is judged.
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
      socket.unshift(seen)
      this.#waiting.push(() => {
        if (socket.destroyed) return
        this.#options.connections[protocol](socket, isTooMany)
      })
      if (!this.#isHanding) this.#handOver()
    }
    const onEnd = (): void => {
      stop()
      socket.destroy()
    }
    socket.on('readable', onReadable)
    socket.once('end', onEnd)
    socket.once('close', () => clearTimeout(timer))
  }

  readonly #handOver = (): void => {
    const some = this.#waiting.splice(0, handedMax)
    this.#isHanding = some.length > 0
    if (this.#isHanding) setImmediate(this.#handOver)
    for (const hand of some) hand()
  }

  /** Stops listening. Open connections stay, except those that remain silent. */
  stop(): void {
    for (const server of this.#servers.splice(0)) server.close()
    // The timer refers to the set alone, which empties itself; a reference to this port would keep its engine alive.
    if (this.#silent.size > 0) setTimeout(destroyUnheard, silentAtEndMs, this.#silent).unref()
  }

  destroyConnections(): void {
    destroyAll(this.#sockets)
  }

  /** Resolves when no connection is left, or after `ms` milliseconds. @returns whether none is left */
  async drained(ms: number): Promise<boolean> {
    const until = performance.now() + ms
    while (this.#sockets.size > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return this.#sockets.size === 0
  }
}

/** Destroys them after the sockets were read once more: after a standstill, bytes may be waiting. */
function destroyUnheard(silent: ReadonlySet<Socket>): void {
  setImmediate(destroyAll, silent)
}

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
