/**
 * One connection of the load generator: unary calls of gRPC, many at once, by Node's client of HTTP/2. A call takes about as much CPU time here as
 * a lookup takes in the server, so generator and server should have a core each.
 */
import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { type Caller, CallFailed } from './caller.ts'
import type { Bytes, MethodName } from './messages.ts'

/** The largest that the protocol allows: no answer waits for a window. */
const windowSize = 0x7fff_ffff

export class Connection implements Caller {
  readonly port: number
  readonly #session: ClientHttp2Session

  static async open(port: number): Promise<Connection> {
    const settings = { enablePush: false, initialWindowSize: windowSize }
    const session = connect(`http://127.0.0.1:${port}`, { settings, maxSessionMemory: 1000 })
    await once(session, 'connect')
    session.setLocalWindowSize(windowSize)
    // The calls under way fail with it.
    session.on('error', () => {})
    return new Connection(session, port)
  }

  constructor(session: ClientHttp2Session, port: number) {
    this.port = port
    this.#session = session
  }

  ask(method: MethodName, message: Bytes): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ':method': 'POST',
        ':path': `/google.datastore.v1.Datastore/${method}`,
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      // gRPC sends an error as the only headers, without a message.
      stream.on('response', (_, flags) => {
        if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) reject(new CallFailed(method))
      })
      // The server has ended this call, or the connection.
      stream.on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ERR_HTTP2_STREAM_ERROR' ? new CallFailed(method) : error)
      })
      stream.on('aborted', () => reject(new Error('the server closed the connection')))
      // Before the message are a byte and its length.
      stream.on('end', () => resolve(Buffer.concat(chunks).subarray(5)))
      const head = Buffer.alloc(5)
      head.writeUInt32BE(message.length, 1)
      stream.end(Buffer.concat([head, message]))
    })
  }

  close(): void {
    this.#session.destroy()
  }
}
