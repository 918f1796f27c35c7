/**
 * The clients of the load generator: one connection of HTTP/2 with many calls of gRPC at once, or connections of HTTP/1.1, both by Node. A call takes
 * about as much CPU time here as a lookup takes in the server, so generator and server should have a core each.
 */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { type Bytes, type MethodName, project } from './messages.ts'

export interface Caller {
  /** @throws CallFailed for a call that the server refuses; another error where the connection is broken */
  ask(method: MethodName, message: Bytes): Promise<Bytes>
}

export class CallFailed extends Error {
  constructor(method: MethodName) {
    super(`${method} failed`)
  }
}

export type ContentType = 'application/json' | 'application/x-protobuf'

/** HTTP/1.1 by Node's client, with a connection for each call under way, as clients in other processes have. */
export class HttpConnections implements Caller {
  readonly #agent: Agent = new Agent({ keepAlive: true })
  readonly #port: number
  readonly #type: ContentType

  constructor(port: number, type: ContentType) {
    this.#port = port
    this.#type = type
  }

  ask(method: MethodName, message: Bytes): Promise<Bytes> {
    const verb = method.charAt(0).toLowerCase() + method.slice(1)
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new CallFailed(method))
      const asked = request({
        ...{ host: '127.0.0.1', port: this.#port, agent: this.#agent, method: 'POST' },
        path: `/v1/projects/${project}:${verb}`,
        headers: { 'content-type': this.#type, 'content-length': message.length },
      })
      asked.on('error', fail)
      asked.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        // It has broken off.
        response.on('error', fail)
        response.on('end', () => (response.statusCode === 200 ? resolve(Buffer.concat(chunks)) : fail()))
      })
      asked.end(message)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** The largest that the protocol allows, in bytes: no answer waits for a window. */
const windowSize = 0x7fff_ffff

/** In MB, as Node counts it. */
const sessionMemory = 1000

export class Connection implements Caller {
  readonly port: number
  readonly #session: ClientHttp2Session

  static async open(port: number): Promise<Connection> {
    const settings = { enablePush: false, initialWindowSize: windowSize }
    const session = connect(`http://127.0.0.1:${port}`, { settings, maxSessionMemory: sessionMemory })
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
      let isOver = false
      const fail = (error: Error): void => {
        isOver = true
        reject(error)
      }
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        // Before the message are a byte and its length.
        const bytes = Buffer.concat(chunks)
        if (bytes.length < 5 || bytes.length < 5 + bytes.readUInt32BE(1)) return
        isOver = true
        resolve(bytes.subarray(5))
      })
      // An error of the service is in the only headers, or in trailers.
      stream.on('response', (_, flags) => {
        if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) fail(new CallFailed(method))
      })
      stream.on('trailers', (trailers) => {
        if (trailers['grpc-status'] !== '0') fail(new CallFailed(method))
      })
      // Without either, the server has ended the call, or the connection.
      stream.on('error', () => {})
      stream.on('close', () => {
        if (!isOver) setTimeout(() => reject(this.#session.destroyed ? broken : new CallFailed(method)), endMs)
      })
      const head = Buffer.alloc(5)
      head.writeUInt32BE(message.length, 1)
      stream.end(Buffer.concat([head, message]))
    })
  }

  close(): void {
    this.#session.destroy()
  }
}

const broken = new Error('the server closed the connection')
/** The end of a connection is told after those of its calls. */
const endMs = 20
