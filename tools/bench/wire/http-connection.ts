/**
 * The load generator's HTTP/1.1: requests are bytes made beforehand, each connection has one under way and is kept alive, and
 * of the answers no more is read than where they end.
 *
 *   HTTP/1.1 200 OK⏎ … Content-Length: 12⏎⏎ twelve bytes          or: Transfer-Encoding: chunked
 *
 * X3  An answer of another status than 200 is a failed call.
 * X4  A request has a connection to itself: nothing is pipelined.
 *
 * Known: RFC 9112.
 */
import { connect, type Socket } from 'node:net'
import { type Bytes, type MethodName, project } from './messages.ts'

type Done = (answer: Bytes | undefined) => void

const nothing: Buffer = Buffer.alloc(0)

/** A whole request of the data API. */
export function httpRequest(verb: string, contentType: string, body: Bytes): Bytes {
  const head = [
    `POST /v1/projects/${project}:${verb} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

class HttpConnection {
  readonly #socket: Socket
  #done: Done | undefined
  #received: Buffer = nothing
  #trouble: Error | undefined

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new HttpConnection(socket)))
    })
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  call(request: Bytes, done: Done): void {
    if (this.#trouble !== undefined) throw this.#trouble
    this.#done = done
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const answer = wholeAnswer(received)
    if (answer === undefined) {
      this.#received = received
      return
    }
    this.#received = nothing
    this.#finish(answer.status === 200 ? answer.body : undefined)
  }

  #finish(answer: Bytes | undefined): void {
    const done = this.#done
    this.#done = undefined
    done?.(answer)
  }

  #fail(error: Error): void {
    this.#trouble ??= error
    this.#finish(undefined)
  }
}

export interface HttpAnswer {
  readonly status: number
  readonly body: Buffer
}

/** The answer, once all of its bytes are there. @throws when it does not say how long it is */
export function wholeAnswer(received: Buffer): HttpAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = received.toString('latin1', 0, headEnd)
  const status = Number(head.slice(9, 12))
  const start = headEnd + 4
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    const end = start + Number(length)
    return received.length < end ? undefined : { status, body: received.subarray(start, end) }
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`an answer without a length: ${head}`)
  const body = unchunked(received, start)
  return body === undefined ? undefined : { status, body }
}

function unchunked(received: Buffer, start: number): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    const from = lineEnd + 2
    at = from + size + 2
    if (received.length < at) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(received.subarray(from, from + size))
  }
}

/** As many connections as calls at once; to a closed loop they are one. */
export class HttpConnections {
  readonly #all: readonly HttpConnection[]
  readonly #idle: HttpConnection[]

  static async open(port: number, count: number): Promise<HttpConnections> {
    return new HttpConnections(await Promise.all(Array.from({ length: count }, () => HttpConnection.open(port))))
  }

  constructor(all: readonly HttpConnection[]) {
    this.#all = all
    this.#idle = [...all]
  }

  /** @param request - from {@link httpRequest} */
  call(_method: MethodName, request: Bytes, done: Done): void {
    const connection = this.#idle.pop()
    if (connection === undefined) throw new Error('more calls at once than connections')
    connection.call(request, (answer) => {
      this.#idle.push(connection)
      done(answer)
    })
  }

  /** @throws when the answer is an error */
  ask(method: MethodName, request: Bytes): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      this.call(method, request, (answer) => {
        if (answer === undefined) reject(new Error('the call failed'))
        else resolve(answer)
      })
    })
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }
}
