/**
 * HTTP/1.1: the data API in JSON and protobuf, and the other endpoints. It does not listen: port.ts hands connections to it.
 *
 *   POST /v1/projects/{project}:{method}     application/json, application/x-protobuf: answered in the same type
 *   other paths                              router.ts
 *   unknown path, or wrong verb              404; below /v1/ as an error of the API, elsewhere as plain text
 *
 * A request from a page that guard.ts refuses has no effect at all. A client that goes away cancels its call.
 *
 * Measured: paths, types, status codes, CORS headers and 413 on both of Google's emulators, whose 404 is a plain text everywhere.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { DatastoreError, type Scheduler } from '@sixtables/engine'
import { nearest } from '@sixtables/engine/did-you-mean'
import { Call, type Handlers, messageOf, watcherHeader } from '../call.ts'
import type { Calls } from '../calls/calls.ts'
import type { Logger } from '../logger.ts'
import { type MethodName, methodNames } from '../methods.ts'
import type { Admission } from './admission.ts'
import { EventStreams } from './event-streams.ts'
import type { FairQueue } from './fair-queue.ts'
import type { Guard } from './guard.ts'
import { BodyAborted, BodyTooLarge, checkMessageSize, readBody } from './http-body.ts'
import { Exchange, Outbox, send, sendLast, textType } from './http-exchange.ts'
import { jsonForm } from './http-json.ts'
import { protobufForm } from './http-protobuf.ts'
import { reportBody } from './json-report.ts'
import { dropThenClose } from './lingering-close.ts'
import type { Router } from './router.ts'
import { httpStatusOf, statusOf } from './status.ts'
import type { WireForm } from './wire-form.ts'

const methods: Readonly<Record<string, MethodName>> = methodNames

export interface HttpOptions {
  readonly handlers: Handlers
  readonly router: Router
  readonly guard: Guard
  readonly clock: Scheduler
  readonly logger: Logger
  readonly admission: Admission
  readonly queue: FairQueue
  readonly calls: Calls
}

export class HttpConnections {
  readonly #server: Server
  readonly #options: HttpOptions
  readonly #eventStreams = new EventStreams()
  readonly #outbox = new Outbox()
  /** The answers that were begun last. */
  readonly #answering = new WeakMap<Socket, ServerResponse>()
  #isClosing = false

  constructor(options: HttpOptions) {
    this.#options = options
    this.#server = createServer(
      { keepAliveTimeout: 60_000, noDelay: true, requireHostHeader: false },
      (request, response) => {
        this.#answering.set(request.socket, response)
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
    else this.#server.emit('connection', socket)
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
    const hosts = request.headersDistinct['host']?.length ?? 0
    if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
      sendLast(
        request,
        response,
        400,
        `the request has ${hosts === 0 ? 'no' : 'more than one'} Host header: send one\n`,
      )
      return
    }
    if (refusal !== undefined) {
      sendLast(request, response, 403, `${refusal}\n`)
      return
    }
    if (origin !== undefined) allowOrigin(response, origin, headers)
    if (method === 'OPTIONS') {
      send(response, 200, textType, '')
      return
    }
    const [path = '', query = ''] = split(request.url ?? '')
    const target = method === 'POST' ? dataTarget(path) : undefined
    const { admission } = this.#options
    const tooMany = admission.beginCall()
    const exchange = new Exchange(request, response, admission)
    if (tooMany !== undefined) {
      request.resume()
      send(response, 429, jsonForm.contentType, jsonForm.error(tooMany))
      return
    }
    const done = target === undefined ? this.#serveRoute(exchange, path, query) : this.#serveData(exchange, target)
    done.catch((error: unknown) => this.#giveUp(request, response, error))
  }

  async #serveData(exchange: Exchange, target: DataTarget): Promise<void> {
    const { request, response } = exchange
    const found = request.headers['content-type']
    const form = formOf(found)
    if (form === undefined) {
      request.resume()
      const message = `content type ${found} is not served: use application/json or application/x-protobuf; with curl, -H 'content-type: application/json'`
      const error = { code: 415, message, status: 'INVALID_ARGUMENT' }
      send(response, 415, jsonForm.contentType, `${JSON.stringify({ error })}\n`)
      return
    }
    const { clock, handlers, logger, queue, calls } = this.#options
    const { method } = target
    const protocol = form === jsonForm ? 'json' : 'protobuf'
    const isUncounted = request.headers[watcherHeader] === '1'
    const call = new Call({ clock, pathProjectId: target.projectId, isUncounted })
    calls.begin(call)
    exchange.serve(call)
    try {
      const read = form.request(method, await readBody(exchange), call)
      const message = read instanceof Promise ? await read : read
      checkMessageSize(message)
      const given = queue.isFree(request.socket)
        ? handlers[method](message, call)
        : queue.wait(request.socket, call, () => handlers[method](message, call))
      const answer = given instanceof Promise ? await given : given
      const body = form.answer(method, messageOf(answer), call)
      this.#outbox.add(exchange, form.contentType, body instanceof Promise ? await body : body)
      calls.end(call, { method, protocol, code: 'OK' })
    } catch (error) {
      if (error instanceof BodyTooLarge || error instanceof BodyAborted) {
        const isGone = error instanceof BodyAborted
        const code = isGone ? 'CANCELLED' : 'RESOURCE_EXHAUSTED'
        calls.end(call, { method, protocol, code, message: isGone ? 'the client is gone' : 'the body is too large' })
        throw error
      }
      const status = statusOf(error, logger)
      calls.end(call, { method, protocol, ...status })
      send(response, httpStatusOf(status.code), form.contentType, form.error(status))
    }
  }

  async #serveRoute(exchange: Exchange, path: string, query: string): Promise<void> {
    const { request, response } = exchange
    try {
      const found = this.#options.router.find(request.method ?? '', path)
      if (found === undefined) {
        request.resume()
        sendUnknown(request, response, { path, verbs: this.#options.router.verbsOf(path) })
        return
      }
      const body = await readBody(exchange)
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const { parameters } = found
      const answer = await found.route({
        query: new URLSearchParams(query),
        body,
        headers: request.headers,
        parameters,
        signal: gone.signal,
      })
      if ('text' in answer) exchange.answer(textType, answer.text)
      else if ('json' in answer) await this.#answerReport(exchange, answer.json)
      else if ('jsonText' in answer) exchange.answer(jsonForm.contentType, answer.jsonText)
      else if ('file' in answer) exchange.answerFile(answer.file)
      else if ('document' in answer) await this.#eventStreams.sendDocument(response, answer.document)
      else await this.#eventStreams.send(response, answer.events)
    } catch (error) {
      if (error instanceof BodyTooLarge || error instanceof BodyAborted) throw error
      const status = statusOf(error, this.#options.logger)
      send(response, httpStatusOf(status.code), jsonForm.contentType, jsonForm.error(status))
    }
  }

  async #answerReport(exchange: Exchange, report: unknown): Promise<void> {
    const call = new Call({ clock: this.#options.clock })
    exchange.serve(call)
    exchange.answer(jsonForm.contentType, await reportBody(call, report))
  }

  /** Answers bytes that are no request: those of Node have no words. */
  #refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
    const answering = this.#answering.get(socket)
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

  #giveUp(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (error instanceof BodyTooLarge) {
      sendLast(request, response, 413, '')
      return
    }
    if (!(error instanceof BodyAborted)) statusOf(error, this.#options.logger)
    response.destroy()
  }
}

interface Unknown {
  readonly path: string
  /** Verbs that this path has routes for. */
  readonly verbs: readonly string[]
}

/** Answers an unknown path or a wrong verb. */
function sendUnknown(request: IncomingMessage, response: ServerResponse, { path, verbs }: Unknown): void {
  const remedy = dataTarget(path) === undefined ? (useVerb(verbs) ?? meantMethod(path)) : useVerb(['POST'])
  const message = `there is no ${request.method} ${path}${remedy === undefined ? '' : `; ${remedy}`}`
  if (path.startsWith('/v1/')) {
    const form = formOf(request.headers['content-type']) ?? jsonForm
    send(response, 404, form.contentType, form.error(new DatastoreError('NOT_FOUND', message)))
  } else send(response, 404, textType, `${message}\n`)
}

function useVerb(verbs: readonly string[]): string | undefined {
  return verbs.length === 0 ? undefined : `use ${verbs.join(' or ')}`
}

function meantMethod(path: string): string | undefined {
  const [, verb] = /^\/v1\/projects\/[^/]+:([A-Za-z]+)$/.exec(path) ?? []
  const near = verb === undefined ? undefined : nearest(verb, Object.keys(methods))
  return near === undefined || near === verb ? undefined : `did you mean ${near}?`
}

interface DataTarget {
  readonly projectId: string
  readonly method: MethodName
}

/** The project and method in a path of the data API. Project ids may contain colons. */
function dataTarget(path: string): DataTarget | undefined {
  const [, project, verb] = /^\/v1\/projects\/([^/]+):([A-Za-z]+)$/.exec(path) ?? []
  if (project === undefined || verb === undefined || !Object.hasOwn(methods, verb)) return undefined
  const method = methods[verb]
  try {
    return method === undefined ? undefined : { projectId: decodeURIComponent(project), method }
  } catch {
    return undefined
  }
}

/** The form for a content type; JSON without one, or with an empty one. */
function formOf(contentType: string | undefined): WireForm | undefined {
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return jsonForm
  if (contentType === 'application/x-protobuf') return protobufForm
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return jsonForm
  return type === 'application/x-protobuf' || type === 'application/protobuf' ? protobufForm : undefined
}

function split(url: string): readonly string[] {
  const at = url.indexOf('?')
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)]
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
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
