/**
 * HTTP/1.1 over Node's sockets: who may call, the bytes of requests and answers, and their ends. http-calls.ts serves the calls. It does not
 * listen: port.ts hands connections to it.
 *
 * A request from a page that guard.ts refuses has no effect at all. A client that goes away cancels its call.
 *
 * Measured: CORS headers and 413 on both of Google's emulators.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../logger.ts'
import type { Admission } from './admission.ts'
import { EventStreams } from './event-streams.ts'
import type { Guard } from './guard.ts'
import { BodyAborted, BodyTooLarge, errorOn, type HttpCalls, one, type StreamAnswer, textType } from './http-calls.ts'
import { dropThenClose, Exchange, Outbox, send, sendLast } from './http-exchange.ts'
import { statusOf } from './status.ts'
import { jsonForm } from './wire-form.ts'

export interface HttpOptions {
  readonly http: HttpCalls
  readonly guard: Guard
  readonly logger: Logger
  readonly admission: Admission
}

/** A connection has one entry of its own, since replacing the values of a WeakMap costs each request some collector's time. */
interface Connection {
  /** The answer that was begun last. */
  answering: ServerResponse | undefined
  /** Answers of a pipeline that wait for those before them. When the client goes, Node tells the first answer alone. */
  readonly queued: Set<ServerResponse>
}

export class HttpConnections {
  readonly #server: Server
  readonly #options: HttpOptions
  readonly #eventStreams = new EventStreams()
  readonly #outbox = new Outbox()
  readonly #connections = new WeakMap<Socket, Connection>()
  #isClosing = false

  constructor(options: HttpOptions) {
    this.#options = options
    this.#server = createServer(
      { keepAliveTimeout: 60_000, noDelay: true, requireHostHeader: false },
      (request, response) => {
        const connection = this.#connections.get(request.socket)
        if (connection !== undefined) begin(connection, response)
        this.#serve(request, response)
      },
    )
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      this.#refuseBytes(error, socket)
    })
    // Without this Node drops headers after the first 2,000, among them a second Host. All headers together are limited to 16 KiB.
    this.#server.maxHeadersCount = 0
    // Node starts its check for slow requests on this event; this server never listens itself.
    this.#server.emit('listening')
  }

  /** @param isTooMany - whether the connection is above the limit */
  accept(socket: Socket, isTooMany: boolean): void {
    if (isTooMany)
      refuse(socket, 429, jsonForm.contentType, jsonForm.error(this.#options.admission.tooManyConnections()))
    else {
      const queued = new Set<ServerResponse>()
      this.#connections.set(socket, { answering: undefined, queued })
      socket.once('close', () => endAll(queued))
      this.#server.emit('connection', socket)
    }
  }

  /** Ends idle connections now, and the others after their answers. */
  close(): void {
    this.#isClosing = true
    this.#eventStreams.close()
    this.#server.close(() => {})
    this.#server.closeIdleConnections()
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = '' } = request
    const { origin, host } = headers
    const refusal = this.#options.guard.refusal({
      protocol: 'http',
      method,
      origin,
      host,
      site: one(headers['sec-fetch-site']),
      mode: one(headers['sec-fetch-mode']),
    })
    if (this.#isClosing) response.setHeader('Connection', 'close')
    // RFC 9112, 3.2: a proxy may have checked one Host, and we would use the other.
    const hosts = hostsOf(request.rawHeaders)
    const isWrong = hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')
    if (isWrong || refusal !== undefined) {
      const words = `the request has ${hosts === 0 ? 'no' : 'more than one'} Host header: send one`
      const body = `${isWrong ? words : refusal}\n`
      sendLast(request, response, { status: isWrong ? 400 : 403, contentType: textType, body })
      return
    }
    if (origin !== undefined) allowOrigin(response, origin, headers)
    if (method === 'OPTIONS') {
      send(response, { status: 200, contentType: textType, body: '' })
      return
    }
    const { admission, http } = this.#options
    const tooMany = admission.beginCall()
    const exchange = new Exchange(request, response, admission)
    if (tooMany !== undefined) {
      exchange.answer(http.refusal(tooMany))
      return
    }
    void this.#exchange(exchange)
  }

  async #exchange(exchange: Exchange): Promise<void> {
    try {
      const answer = await this.#options.http.exchange(exchange)
      // A request of before has no header that ends its connection.
      if (this.#isClosing) exchange.response.once('close', () => this.#server.closeIdleConnections())
      if ('pieces' in answer) await this.#stream(exchange, answer)
      else if (answer.canWait === true) this.#outbox.add(exchange, answer)
      else exchange.answer(answer)
    } catch (error) {
      this.#giveUp(exchange, error)
    }
  }

  async #stream(exchange: Exchange, answer: StreamAnswer): Promise<void> {
    try {
      await this.#eventStreams.send(exchange.response, answer)
    } catch (error) {
      exchange.answer(this.#options.http.refusal(error))
    }
  }

  /** Answers bytes that are no request: those of Node have no words. */
  #refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
    const answering = this.#connections.get(socket)?.answering
    const answer = (): void => {
      if (socket.writable && error.code !== 'ECONNRESET') refuse(socket, ...refusalOf(error))
      else socket.destroy()
    }
    if (answering === undefined || answering.closed) answer()
    // A request that is cut off or broken in its body gets no other answer, and would wait for the end of the connection.
    else if (!answering.req.complete) answering.headersSent ? socket.destroy() : answer()
    // The answer to an earlier request comes first.
    else answering.once('close', answer)
  }

  #giveUp(exchange: Exchange, error: unknown): void {
    const { request, response } = exchange
    if (error instanceof BodyTooLarge) {
      sendLast(request, response, errorOn(exchange, error, 413))
      return
    }
    if (!(error instanceof BodyAborted)) statusOf(error, this.#options.logger)
    response.destroy()
  }
}

function begin(connection: Connection, response: ServerResponse): void {
  connection.answering = response
  if (response.socket !== null) return
  connection.queued.add(response)
  response.once('close', () => connection.queued.delete(response))
}

function endAll(queued: ReadonlySet<ServerResponse>): void {
  for (const response of queued) {
    if (response.socket !== null) continue
    response.destroy()
    response.emit('close')
  }
}

/** Number of Host headers in a list of names and values in turn: Node's own `headers` keeps the first alone. */
function hostsOf(raw: readonly string[]): number {
  let count = 0
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** Measured: the origin is echoed, and credentials are allowed. */
function allowOrigin(response: ServerResponse, origin: string, headers: IncomingMessage['headers']): void {
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Access-Control-Allow-Credentials', 'true')
  response.setHeader('Vary', 'Origin')
  const asked = one(headers['access-control-request-headers'])
  if (headers['access-control-request-method'] === undefined && asked === undefined) return
  response.setHeader('Access-Control-Allow-Methods', 'DELETE, GET, HEAD, PATCH, POST, PUT')
  if (asked !== undefined) response.setHeader('Access-Control-Allow-Headers', asked)
  response.setHeader('Access-Control-Max-Age', '600')
  if (headers['access-control-request-private-network'] === 'true') {
    response.setHeader('Access-Control-Allow-Private-Network', 'true')
  }
}

/** Status, type and text for bytes that are no request. */
function refusalOf({ code, message }: NodeJS.ErrnoException): readonly [number, string, string] {
  const [status, text] =
    code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'the headers of the request are longer than 16 KiB in all: send fewer, or shorter ones']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'the request did not come whole in time: send it again']
        : [400, `this is no HTTP/1.1 request (${message}): see to what the client, or a proxy in between, sends`]
  return [status, textType, `${text}\n`]
}

/** An answer to a connection of which nothing more is read. */
function refuse(socket: Socket, status: number, contentType: string, body: Buffer | string): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${contentType}\r\nConnection: close\r\n`
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  dropThenClose(socket, () => socket.destroySoon())
}
