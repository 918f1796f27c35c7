/**
 * HTTP/2 by node:http2, bound to gRPC. It does not listen: connections are handed to it.
 *
 * H1  Requests whose origin or host is not welcome are refused before anything of them is read.      http2-server.test.ts
 * H2  After close() no new stream is taken, and those under way end in their time.                   same
 * H3  A session that stays silent is asked for a sign of life, and ends without one. After a broken frame nghttp2 reads no
 *     more and says goodbye, and Node never hears that the client has gone.                          overload.test.ts
 * H4  Calls, answers that nobody reads and requests are counted, whatever becomes of them (load.ts).     same
 */
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import { silentLogger } from '../logger.ts'
import { acceptedEncodings, type GrpcService, type ResponseStream, type StreamListener } from './grpc.ts'
import type { Guard } from './guard.ts'
import { KeptStreams, roomToKeep } from './kept-streams.ts'
import type { Load, Unread } from './load.ts'
import { grpcMessageOf, grpcStatusOf, statusOf } from './status.ts'

const windowBytes = 4 * 1024 * 1024
const sessionWindowBytes = 32 * 1024 * 1024
const streamsMax = 20_000

/**
 * The defaults end a busy session: 10 MB for all its streams, 33 cancelled streams a second after the first 1000. What floods
 * (settings, pings, broken frames) ends its session by the defaults of Node and nghttp2.
 */
const serverOptions = {
  settings: { initialWindowSize: windowBytes, maxConcurrentStreams: streamsMax, enablePush: false },
  maxSessionMemory: 1024,
  streamResetBurst: 20_000,
  streamResetRate: 2_000,
}

/** So often sessions are looked at: who sent nothing since the last look is asked for a sign of life. */
const silenceMsDefault = 30_000
/** Times that long it may take to give it: a client that stands at a breakpoint answers nobody. */
const patience = 10

/** How long a refused client may go on sending before its stream is reset. */
const lingerMs = 1000

const okHeaders = { ':status': 200, 'content-type': 'application/grpc' }
const okTrailers = { 'grpc-status': '0' }
/** With endStream spelled out: Node copies the options and sets it, and to add a field to a copy costs V8 1 µs. */
const withTrailers = { waitForTrailers: true, sendDate: false, endStream: false }
const headersAlone = { endStream: true, sendDate: false }

export interface Http2Options {
  readonly grpc: GrpcService
  readonly guard: Guard
  readonly load: Load
  readonly silenceMs?: number | undefined
}

export class Http2Connections {
  readonly #server: Http2Server
  /** Takes connections that are too many: it answers each call with that, and ends. */
  readonly #refusing: Http2Server
  readonly #sessions = new Set<CallSession>()
  readonly #room = roomToKeep()
  readonly #options: Http2Options
  readonly #silenceMs: number
  #lifeTimer: NodeJS.Timeout | undefined

  constructor(options: Http2Options) {
    this.#options = options
    this.#silenceMs = options.silenceMs ?? silenceMsDefault
    this.#server = createServer(serverOptions)
    this.#server.on('session', (session) => this.#watch(session))
    this.#server.on('stream', (stream, headers) => this.#begin(stream, headers))
    this.#refusing = createServer()
    this.#refusing.on('session', (session) => this.#watch(session))
    this.#refusing.on('stream', (stream) => this.#refuse(stream))
  }

  /** @param isTooMany - there are as many connections as there may be without this one */
  accept(socket: Socket, isTooMany: boolean): void {
    // A client that ends its half of the connection is gone: there are no half-open sessions in HTTP/2.
    socket.allowHalfOpen = false
    const server = isTooMany ? this.#refusing : this.#server
    server.emit('connection', socket)
  }

  /** Asks clients to go elsewhere (GOAWAY); calls under way are answered. */
  close(): void {
    for (const session of this.#sessions) {
      session.close()
      session[keptOf]?.release()
    }
  }

  /**
   * All connections have ended. Node keeps the timer of a closed session until it rings, and with it the session and these
   * servers; from here on they lead to nothing of ours.
   */
  end(): void {
    clearInterval(this.#lifeTimer)
    this.#server.removeAllListeners()
    this.#refusing.removeAllListeners()
  }

  #watch(session: CallSession): void {
    this.#sessions.add(session)
    const kept = new KeptStreams(session, this.#room)
    session[keptOf] = kept
    session.once('close', () => {
      this.#sessions.delete(session)
      kept.release()
    })
    // The session's streams are told of its end one by one.
    session.on('error', ignore)
    session.setLocalWindowSize(sessionWindowBytes)
    session[bytesOf] = 0
    this.#lifeTimer ??= setInterval(() => this.#lookForLife(), this.#silenceMs).unref()
  }

  /**
   * Asks those of whom nothing was read since it looked last, and who have not been asked yet. One look at all now and then: a
   * timeout of a session is set anew by each frame, for 1 µs of a call.
   */
  #lookForLife(): void {
    for (const session of this.#sessions) {
      const bytes = session.socket?.bytesRead ?? 0
      if (bytes === session[bytesOf]) this.#askForLife(session)
      session[bytesOf] = bytes
    }
  }

  #askForLife(session: CallSession): void {
    if (session.destroyed || session[isAskedOf] === true) return
    session[isAskedOf] = true
    const end = (): void => {
      if (session[isAskedOf] === true) session.destroy()
    }
    // A process that stood still itself reads the answers that wait for it before it judges them late.
    const late = setTimeout(() => setImmediate(end), patience * this.#silenceMs)
    late.unref()
    session.once('close', () => clearTimeout(late))
    const isSent = session.ping((error) => {
      session[isAskedOf] = false
      clearTimeout(late)
      if (error !== null) session.destroy()
    })
    if (!isSent) session.destroy()
  }

  #refuse(stream: ServerHttp2Stream): void {
    stream.on('error', ignore)
    const call = new NodeCall(stream, this.#options.load)
    fail(call, this.#options.load.tooManyConnections())
    stream.session?.close()
  }

  #begin(stream: CallStream, headers: IncomingHttpHeaders): void {
    const { load } = this.#options
    const call = new NodeCall(stream, load)
    stream[callOf] = call
    stream.on('error', ignore)
    stream.on('close', onClose)
    const tooMany = load.beginCall()
    if (tooMany !== undefined) {
      fail(call, tooMany)
      stream.resume()
      return
    }
    const { origin } = headers
    const host = headers[':authority'] ?? headers.host
    if (this.#options.guard.refusal({ origin, host, site: undefined, mode: undefined }) !== undefined) {
      call.refuse(403)
      stream.resume()
      return
    }
    call.listener = this.#options.grpc.begin(
      {
        method: headers[':method'],
        path: headers[':path'] ?? '',
        contentType: headers['content-type'],
        encoding: one(headers['grpc-encoding']),
        timeout: one(headers['grpc-timeout']),
      },
      call,
    )
    const kept = (stream.session as CallSession | undefined)?.[keptOf]
    if (kept?.wantsNext() === true) call.kept = kept
    stream.on('data', onData)
    stream.on('end', onEnd)
  }
}

/** A session, those of its streams that are kept, and its signs of life. */
interface CallSession extends ServerHttp2Session {
  [keptOf]?: KeptStreams
  /** How much had been read of it at the last look. */
  [bytesOf]?: number
  [isAskedOf]?: boolean
}

const keptOf: unique symbol = Symbol('kept')
const bytesOf: unique symbol = Symbol('bytes')
const isAskedOf: unique symbol = Symbol('isAsked')

/**
 * A stream with the call that it is. The listeners of all streams are the same few functions, and a stream that is over has
 * nothing of its call: Node keeps streams in a Map, and what once was in a Map the collector of young objects may take for
 * alive until the next full collection.
 */
interface CallStream extends ServerHttp2Stream {
  [callOf]?: NodeCall | undefined
}

const callOf: unique symbol = Symbol('call')

function onData(this: CallStream, chunk: Buffer): void {
  this[callOf]?.data(chunk)
}

function onEnd(this: CallStream): void {
  this[callOf]?.ended()
}

function onWantTrailers(this: CallStream): void {
  this.sendTrailers(okTrailers)
}

function onClose(this: CallStream): void {
  this[callOf]?.closed()
  this[callOf] = undefined
}

/** Apart from all others: a function made beside them would keep what they know. */
function ignore(): void {}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

function fail(response: ResponseStream, error: unknown): void {
  const { code, message } = statusOf(error, silentLogger)
  response.fail(grpcStatusOf(code), grpcMessageOf(message))
}

function statusHeaders(status: number, message: string): Record<string, string> {
  return { 'grpc-status': String(status), ...(message === '' ? {} : { 'grpc-message': message }) }
}

/** A call on a stream of node:http2: what comes in, and what goes out. */
class NodeCall implements ResponseStream {
  readonly #stream: ServerHttp2Stream
  readonly #load: Load
  /** Who is told of what comes in; nobody after the request was refused. */
  listener: StreamListener | undefined
  /** Who keeps the stream once its request has come. */
  kept: KeptStreams | undefined
  /** How many of the next bytes are not the client's. */
  #strangeBytes = 0
  #requestBytes = 0
  #unread: Unread | undefined
  #isEnded = false

  constructor(stream: ServerHttp2Stream, load: Load) {
    this.#stream = stream
    this.#load = load
  }

  data(chunk: Buffer): void {
    const { listener, kept } = this
    if (listener === undefined) return
    if (this.#strangeBytes > 0) {
      const own = chunk.subarray(this.#strangeBytes)
      this.#strangeBytes = 0
      if (own.length > 0) this.data(own)
      return
    }
    if (kept !== undefined) {
      this.kept = undefined
      this.#strangeBytes = kept.keep(this.#stream, (isKept) => this.#isKept(isKept))
    }
    try {
      this.#load.take(chunk.length)
      this.#requestBytes += chunk.length
    } catch (error) {
      this.listener = undefined
      if (this.#stream.headersSent) this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      else fail(this, error)
      listener.cancelled()
      return
    }
    listener.data(chunk)
  }

  /** A stream that its client reset ends too. */
  ended(): void {
    // A kept one ends again when it is let go of.
    if (this.#isEnded) return
    this.#isEnded = true
    if (this.#stream.aborted) this.listener?.cancelled()
    else this.listener?.end()
  }

  /** A kept stream closes with its session alone: its call is over when its answer is out. */
  #isKept(isKept: boolean): void {
    if (!isKept) return
    this.#stream.once('finish', onClose)
    this.ended()
  }

  get connection(): object {
    return this.#stream.session ?? this.#stream
  }

  /** The stream is over, answered or not. */
  closed(): void {
    this.listener?.cancelled()
    this.#load.endCall()
    this.#load.giveBack(this.#requestBytes)
    if (this.#unread !== undefined) this.#load.read(this.#unread)
  }

  ok(frame: Buffer): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    stream.respond(okHeaders, withTrailers)
    stream.on('wantTrailers', onWantTrailers)
    stream.end(frame)
    // Its session may have other answers, but one whose reader is this slow is not worth them.
    this.#unread = this.#load.hold(frame.length, () => stream.session?.destroy())
  }

  write(frame: Buffer): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    if (!stream.headersSent) stream.respond(okHeaders, withTrailers)
    stream.write(frame)
  }

  end(status: number, message: string): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    if (!stream.headersSent) stream.respond(okHeaders, withTrailers)
    stream.once('wantTrailers', () => {
      stream.sendTrailers(statusHeaders(status, message))
      // The client may go on sending for ever: with its status it has all that it will get.
      if (!stream.readableEnded) stream.resume()
    })
    stream.end()
  }

  fail(status: number, message: string): void {
    this.#headersAlone({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-accept-encoding': acceptedEncodings,
      ...statusHeaders(status, message),
    })
  }

  refuse(httpStatus: number): void {
    this.#headersAlone({ ':status': httpStatus })
  }

  #headersAlone(headers: Record<string, string | number>): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed || stream.headersSent) return
    stream.respond(headers, headersAlone)
    if (stream.readableEnded) return
    // Nobody needs what the client may still send. To reset the stream at once could overtake the headers.
    setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs).unref()
  }
}
