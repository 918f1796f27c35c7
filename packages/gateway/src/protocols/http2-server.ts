/**
 * HTTP/2 by node:http2, for gRPC. A connection is a session, and each call is a stream in it: a client sends Lookup on stream 1 and
 * Commit on stream 3 at the same time. The server does not listen: port.ts hands connections to it.
 *
 * A request whose origin or host the guard refuses is answered before its body is read. After close() new streams are refused, and running
 * ones may end. Dead sessions are closed, also those for which Node emits no event (session-liveness.ts). Calls, unread
 * answers and requests count for admission until they end, however they end.
 */
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { DatastoreError, statusCodes } from '@sixtables/engine'
import { silentLogger } from '../logger.ts'
import type { Admission, Unread } from './admission.ts'
import { acceptedEncodings, type GrpcService } from './grpc.ts'
import type { CallHeaders, ResponseStream, StreamListener } from './grpc-messages.ts'
import type { Guard } from './guard.ts'
import { type Sending, SessionLiveness } from './session-liveness.ts'
import { grpcMessageOf, type Status, statusOf } from './status.ts'

const windowBytes = 4 * 1024 * 1024
const sessionWindowBytes = 32 * 1024 * 1024
const streamsMax = 20_000

/**
 * Node's defaults would end a busy session: 10 MB for all its streams, and 33 cancelled streams a second after the first 1,000.
 * Floods of settings, pings or broken frames still end a session by the defaults of Node and nghttp2.
 */
const serverOptions = {
  settings: { initialWindowSize: windowBytes, maxConcurrentStreams: streamsMax, enablePush: false },
  maxSessionMemory: 1024,
  streamResetBurst: 20_000,
  streamResetRate: 2_000,
}

/** Time for a refused client to stop sending, before its stream is reset. */
const lingerMs = 1000

const okHeaders = { ':status': 200, 'content-type': 'application/grpc' }
const okTrailers = { 'grpc-status': '0' }
/** `endStream` is given because Node copies the options and sets it: adding a field to a copy costs 1 µs in V8. */
const withTrailers = { waitForTrailers: true, sendDate: false, endStream: false }
const headersAlone = { endStream: true, sendDate: false }

export interface Http2Options {
  readonly grpc: GrpcService
  readonly guard: Guard
  readonly admission: Admission
  /** A session that is silent for this long gets a ping. */
  readonly silenceMs?: number | undefined
}

export class Http2Connections {
  readonly #server: Http2Server
  /** Server for connections above the limit: it answers each call with the refusal, and ends. */
  readonly #refusing: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #options: Http2Options
  readonly #liveness: SessionLiveness

  constructor(options: Http2Options) {
    this.#options = options
    this.#liveness = new SessionLiveness(options.silenceMs)
    this.#server = createServer(serverOptions)
    this.#server.on('stream', (stream, headers) => this.#begin(stream, headers as CallHeaders))
    this.#refusing = createServer()
    this.#refusing.on('stream', (stream) => this.#refuse(stream))
  }

  /** @param isTooMany - whether the connection is above the limit */
  accept(socket: Socket, isTooMany: boolean): void {
    // HTTP/2 has no half-open sessions: a client that ends its half of the connection is gone.
    socket.allowHalfOpen = false
    const server = isTooMany ? this.#refusing : this.#server
    server.once('session', (session) => this.#watch(session, socket))
    server.emit('connection', socket)
  }

  /** Asks clients to use other connections (GOAWAY); running calls are answered. */
  close(): void {
    for (const session of this.#sessions) session.close()
  }

  /**
   * Forgets everything after all connections have ended. Node keeps a closed session, and these servers, until a timer of the session
   * fires; they should not keep the engine with them.
   */
  end(): void {
    this.#liveness.end()
    this.#server.removeAllListeners()
    this.#refusing.removeAllListeners()
  }

  #watch(session: CallSession, socket: Socket): void {
    this.#sessions.add(session)
    session.once('close', () => this.#sessions.delete(session))
    // The end of the session reaches each of its streams as an event.
    session.on('error', ignore)
    session.setLocalWindowSize(sessionWindowBytes)
    const sending: Sending = { answers: 0 }
    session[sendingOf] = sending
    this.#liveness.watch(session, socket, sending)
  }

  #refuse(stream: ServerHttp2Stream): void {
    stream.on('error', ignore)
    const call = new NodeCall(stream, this.#options.admission)
    call.fail(this.#options.admission.tooManyConnections())
    stream.session?.close()
  }

  #begin(stream: CallStream, headers: CallHeaders): void {
    const { admission } = this.#options
    const call = new NodeCall(stream, admission)
    stream[callOf] = call
    stream.on('error', ignore)
    stream.on('close', onClose)
    const tooMany = admission.beginCall()
    if (tooMany !== undefined) {
      call.fail(tooMany)
      stream.resume()
      return
    }
    const { origin } = headers
    const host = headers[':authority'] ?? headers.host
    const method = headers[':method']
    const sender = { protocol: 'grpc', method, origin, host, site: undefined, mode: undefined } as const
    const refusal = this.#options.guard.refusal(sender)
    if (refusal !== undefined) {
      call.fail({ code: 'PERMISSION_DENIED', message: refusal })
      stream.resume()
      return
    }
    call.listener = this.#options.grpc.begin(headers, call)
    stream.on('data', onData)
    stream.on('end', onEnd)
  }
}

interface CallSession extends ServerHttp2Session {
  [sendingOf]?: Sending
}

const sendingOf: unique symbol = Symbol('sending')

/**
 * A stream with its call. All streams share the same few listeners, and a stream that has ended forgets its call: Node keeps
 * streams in a Map, and entries of a Map may keep young objects alive until the next full collection.
 */
interface CallStream extends ServerHttp2Stream {
  [callOf]?: NodeCall | undefined
}

const callOf: unique symbol = Symbol('call')

function onData(this: CallStream, chunk: Buffer): void {
  this[callOf]?.data(chunk)
}

/** The request has ended; also called after a reset by the client. */
function onEnd(this: CallStream): void {
  const listener = this[callOf]?.listener
  if (this.aborted) listener?.cancelled()
  else listener?.end()
}

function onWantTrailers(this: CallStream): void {
  this.sendTrailers(okTrailers)
}

function onClose(this: CallStream): void {
  this[callOf]?.closed()
  this[callOf] = undefined
}

/** A function at module level: a closure would keep the variables around it. */
function ignore(): void {}

function statusHeaders({ code, message }: Status): Record<string, string> {
  const status = { 'grpc-status': String(statusCodes[code]) }
  return message === '' ? status : { ...status, 'grpc-message': grpcMessageOf(message) }
}

/** A call on a stream of node:http2: its request and its answer. */
class NodeCall implements ResponseStream {
  readonly connection: object
  readonly #stream: ServerHttp2Stream
  readonly #admission: Admission
  /** The listener for request data; none after the request was refused. */
  listener: StreamListener | undefined
  #requestBytes = 0
  #unread: Unread | undefined
  #isClosed = false
  #sending: Sending | undefined

  constructor(stream: ServerHttp2Stream, admission: Admission) {
    this.connection = stream.session ?? stream
    this.#stream = stream
    this.#admission = admission
  }

  data(chunk: Buffer): void {
    const { listener } = this
    if (listener === undefined) return
    try {
      this.take(chunk.length)
    } catch (error) {
      this.listener = undefined
      if (this.#stream.headersSent) this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      else this.fail(statusOf(error, silentLogger))
      listener.cancelled()
      return
    }
    listener.data(chunk)
  }

  take(bytes: number): void {
    if (this.#isClosed) throw new DatastoreError('CANCELLED', 'the client is gone')
    this.#admission.take(bytes)
    this.#requestBytes += bytes
  }

  /** The stream has ended, answered or not. */
  closed(): void {
    this.#isClosed = true
    this.listener?.cancelled()
    this.#admission.endCall(this.#requestBytes, this.#unread)
    if (this.#sending !== undefined) this.#sending.answers--
  }

  ok(frame: Buffer): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    stream.respond(okHeaders, withTrailers)
    stream.on('wantTrailers', onWantTrailers)
    stream.end(frame)
    this.listener = undefined
    this.#sending = (stream.session as CallSession | undefined)?.[sendingOf]
    if (this.#sending !== undefined) this.#sending.answers++
    // Destroys the whole session: other answers of a reader that slow are no reason to keep it.
    this.#unread = this.#admission.hold(frame.length, () => stream.session?.destroy())
  }

  write(frame: Buffer): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    if (!stream.headersSent) stream.respond(okHeaders, withTrailers)
    stream.write(frame)
  }

  end(status?: Status): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    if (!stream.headersSent) stream.respond(okHeaders, withTrailers)
    stream.once('wantTrailers', () => {
      stream.sendTrailers(status === undefined ? okTrailers : statusHeaders(status))
      // A client that has its status may still be sending; that is read and dropped.
      if (!stream.readableEnded) stream.resume()
    })
    stream.end()
  }

  fail(status: Status): void {
    this.#headersAlone({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-accept-encoding': acceptedEncodings,
      ...statusHeaders(status),
    })
  }

  refuse(httpStatus: number, status: Status): void {
    this.#headersAlone({ ':status': httpStatus, 'content-type': 'application/grpc', ...statusHeaders(status) })
  }

  #headersAlone(headers: Record<string, string | number>): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed || stream.headersSent) return
    stream.respond(headers, headersAlone)
    if (stream.readableEnded) return
    // An immediate reset could arrive before the headers, so data is dropped for a while.
    setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs).unref()
  }
}
