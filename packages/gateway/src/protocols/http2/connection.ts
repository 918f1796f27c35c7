/**
 * The server's side of one HTTP/2 connection, for calls that are answered in one piece: frames in, streams, both flow-control
 * windows, frames out. What a call means is the matter of gRPC.
 *
 *   socket ─▶ FrameReader ─▶ #take ─▶ Stream.listener        Stream.ok / fail / refuse ─▶ Output ─▶ socket
 *
 * K1  Header blocks are decoded in the order they come, also those of refused streams: the tables of both sides must agree.
 * K2  A stream is told of its end exactly once: by end(), or by cancelled().                 test/protocol/http2.test.ts
 * K3  No more of a body is sent than the stream's and the connection's window allow.         test/protocol/http2.test.ts
 * K4  What breaks the rules of one stream ends that stream; of the connection, the connection; never the server.
 *
 * Known: RFC 9113. Ours: what is left out, since no client of ours needs it: priorities, push, a table of our own.
 */
import type { Socket } from 'node:net'
import { acceptedEncodings, type StreamListener } from '../grpc.ts'
import { FrameReader } from './frame-reader.ts'
import {
  ConnectionError,
  errorCode,
  flag,
  framePayloadBytesDefault,
  frameType,
  setting,
  uint32,
  windowBytesDefault,
  windowBytesMax,
} from './frames.ts'
import { encodeHeaders, HpackDecoder } from './hpack.ts'
import { Output } from './output.ts'
import { RequestHeaders } from './request-headers.ts'
import { headerBlockBytesMax, ourSettings, readSettings, streamsMax, streamWindowBytes } from './settings.ts'
import { Stream } from './stream.ts'

export interface ConnectionOptions {
  readonly socket: Socket
  /** Told of a request when its headers are there. It may answer at once. */
  readonly begin: (headers: RequestHeaders, stream: Stream) => StreamListener
  /** Told of a failure that is no client's. */
  readonly onFault: (error: unknown) => void
  readonly onClose: (connection: Connection) => void
}

const prefaceBytes = 24
const connectionWindowBytes = 64 * 1024 * 1024
/** How long a connection that was told to end may take to read that. */
const farewellMs = 1000

const okHeaders = encodeHeaders([
  [':status', '200'],
  ['content-type', 'application/grpc'],
])
const okTrailers = encodeHeaders([['grpc-status', '0']])
const endOfHeaders = flag.endHeaders
const endOfAll = flag.endHeaders | flag.endStream

export class Connection {
  readonly #options: ConnectionOptions
  readonly #output: Output
  readonly #reader = new FrameReader(prefaceBytes)
  readonly #decoder = new HpackDecoder()
  readonly #streams = new Map<number, Stream>()
  /** Streams with an answer that waits for a window, in the order they began to wait. */
  readonly #waiting = new Set<Stream>()
  #lastStream = 0
  #sendWindow = windowBytesDefault
  #peerStreamWindow = windowBytesDefault
  #peerFrameBytes = framePayloadBytesDefault
  /** Received since the connection's window was last moved. */
  #received = 0
  #hasSettings = false
  /** A header block that goes on in CONTINUATION frames. */
  #block: { readonly stream: number; readonly flags: number; bytes: Buffer; parts: number } | undefined
  #isReading = false
  #isFlushing = false
  #isGoingAway = false
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    const { socket } = options
    this.#output = new Output(socket)
    this.#output.frame(frameType.settings, 0, 0, ourSettings)
    this.#output.frame(frameType.windowUpdate, 0, 0, uint32(connectionWindowBytes - windowBytesDefault))
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => socket.resume())
    socket.on('end', () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => this.#close())
    this.#flushSoon()
  }

  /** Takes no new streams; ends the connection when those under way are answered. */
  goAway(): void {
    if (this.#isGoingAway || this.#isClosed) return
    this.#isGoingAway = true
    this.#sendGoAway(errorCode.none)
    this.#endIfDone()
  }

  /** Headers, `frame` as the body, and trailers that say OK. */
  answer(stream: Stream, frame: Buffer): void {
    if (stream.isClosed || stream.isAnswered) return
    stream.isAnswered = true
    this.#output.frame(frameType.headers, endOfHeaders, stream.id, okHeaders)
    stream.unsent = frame
    this.#sendBody(stream)
    this.#flushSoon()
  }

  fail(stream: Stream, status: number, message: string): void {
    const fields: [string, string][] = [
      [':status', '200'],
      ['content-type', 'application/grpc'],
      ['grpc-status', String(status)],
      ['grpc-accept-encoding', acceptedEncodings],
    ]
    if (message !== '') fields.push(['grpc-message', message])
    this.#headersAlone(stream, encodeHeaders(fields))
  }

  refuse(stream: Stream, httpStatus: number): void {
    this.#headersAlone(stream, encodeHeaders([[':status', String(httpStatus)]]))
  }

  #headersAlone(stream: Stream, block: Buffer): void {
    if (stream.isClosed || stream.isAnswered) return
    stream.isAnswered = true
    this.#output.frame(frameType.headers, endOfAll, stream.id, block)
    this.#finish(stream)
    this.#flushSoon()
  }

  /** Sends as much of the body as the windows allow, and the trailers after its end (K3). */
  #sendBody(stream: Stream): void {
    let body = stream.unsent
    if (body === undefined) return
    while (body.length > 0) {
      const bytes = Math.min(body.length, this.#peerFrameBytes, this.#sendWindow, stream.sendWindow)
      if (bytes <= 0) {
        stream.unsent = body
        this.#waiting.add(stream)
        return
      }
      this.#sendWindow -= bytes
      stream.sendWindow -= bytes
      this.#output.frame(frameType.data, 0, stream.id, bytes === body.length ? body : body.subarray(0, bytes))
      body = body.subarray(bytes)
    }
    stream.unsent = undefined
    this.#waiting.delete(stream)
    this.#output.frame(frameType.headers, endOfAll, stream.id, okTrailers)
    this.#finish(stream)
  }

  #sendWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#sendWindow <= 0) return
      if (stream.sendWindow > 0) this.#sendBody(stream)
    }
  }

  /** All is answered. A client that is still sending is told that nobody reads it. */
  #finish(stream: Stream): void {
    if (!stream.isRemoteClosed) {
      this.#output.frame(frameType.resetStream, 0, stream.id, uint32(errorCode.none))
    }
    this.#forget(stream)
    this.#endIfDone()
  }

  #forget(stream: Stream): void {
    stream.isClosed = true
    this.#waiting.delete(stream)
    this.#streams.delete(stream.id)
  }

  #endIfDone(): void {
    if (!this.#isGoingAway || this.#streams.size > 0 || this.#isClosed) return
    this.#flush()
    this.#options.socket.end()
  }

  /** Several answers of one turn are written together. */
  #flushSoon(): void {
    if (this.#isReading || this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isFlushing = false
    if (this.#isClosed) return
    // A client that does not read its answers is not asked for more.
    if (!this.#output.flush()) this.#options.socket.pause()
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosed) return
    this.#isReading = true
    try {
      this.#reader.push(chunk, this.#take)
    } catch (error) {
      this.#break(error)
    } finally {
      this.#isReading = false
    }
    this.#flush()
  }

  /** Ends the connection, with the reason as far as the client is to blame (K4). */
  #break(error: unknown): void {
    const isClients = error instanceof ConnectionError
    if (!isClients) this.#options.onFault(error)
    this.#sendGoAway(isClients ? error.code : 2, isClients ? error.message : '')
    const { socket } = this.#options
    this.#output.flush()
    socket.end()
    setTimeout(() => socket.destroy(), farewellMs).unref()
    this.#close()
  }

  #sendGoAway(code: number, why = ''): void {
    const payload = Buffer.concat([uint32(this.#lastStream), uint32(code), Buffer.from(why, 'latin1')])
    this.#output.frame(frameType.goAway, 0, 0, payload)
    this.#flushSoon()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const stream of this.#streams.values()) this.#cancel(stream)
    this.#options.onClose(this)
  }

  #cancel(stream: Stream): void {
    this.#forget(stream)
    stream.listener?.cancelled()
  }

  readonly #take = (type: number, flags: number, id: number, payload: Buffer): void => {
    if (this.#isClosed) return
    if (this.#block !== undefined && (type !== frameType.continuation || id !== this.#block.stream)) {
      throw new ConnectionError(errorCode.protocol, 'a header block is interrupted by another frame')
    }
    if (!this.#hasSettings && type !== frameType.settings) {
      throw new ConnectionError(errorCode.protocol, 'the first frame is not SETTINGS')
    }
    switch (type) {
      case frameType.data:
        this.#takeData(flags, id, payload)
        return
      case frameType.headers:
        this.#takeHeaders(flags, id, payload)
        return
      case frameType.continuation:
        this.#takeContinuation(flags, payload)
        return
      case frameType.resetStream:
        this.#takeReset(id, payload)
        return
      case frameType.settings:
        this.#takeSettings(flags, id, payload)
        return
      case frameType.ping:
        this.#takePing(flags, id, payload)
        return
      case frameType.windowUpdate:
        this.#takeWindowUpdate(id, payload)
        return
      case frameType.pushPromise:
        throw new ConnectionError(errorCode.protocol, 'clients do not push')
      // Priorities are advice; a client's GOAWAY changes nothing for the streams it has; unknown frames are to be ignored.
    }
  }

  #takeData(flags: number, id: number, payload: Buffer): void {
    this.#checkStream(id)
    this.#received += payload.length
    if (this.#received > connectionWindowBytes) {
      throw new ConnectionError(errorCode.flowControl, 'more was sent than the window of the connection allows')
    }
    if (this.#received >= connectionWindowBytes / 2) {
      this.#output.frame(frameType.windowUpdate, 0, 0, uint32(this.#received))
      this.#received = 0
    }
    const stream = this.#streams.get(id)
    // Of a stream that was answered early, or reset, more may still be on its way.
    if (stream === undefined) return
    if (stream.isRemoteClosed) {
      this.#resetStream(stream, errorCode.streamClosed)
      return
    }
    stream.receivedBytes += payload.length
    if (stream.receivedBytes > streamWindowBytes) {
      this.#resetStream(stream, errorCode.flowControl)
      return
    }
    const body = flags & flag.padded ? withoutPadding(payload) : payload
    if (body.length > 0) stream.listener?.data(body)
    if (flags & flag.endStream) this.#remoteEnd(stream)
  }

  #remoteEnd(stream: Stream): void {
    stream.isRemoteClosed = true
    if (!stream.isClosed) stream.listener?.end()
  }

  #takeHeaders(flags: number, id: number, payload: Buffer): void {
    if (id % 2 === 0) throw new ConnectionError(errorCode.protocol, `a client cannot open stream ${id}`)
    let block = flags & flag.padded ? withoutPadding(payload) : payload
    if (flags & flag.priority) {
      if (block.length < 5) throw new ConnectionError(errorCode.frameSize, 'a header frame is too short')
      block = block.subarray(5)
    }
    if (flags & flag.endHeaders) this.#takeBlock(flags, id, block)
    else this.#block = { stream: id, flags, bytes: block, parts: 1 }
  }

  #takeContinuation(flags: number, payload: Buffer): void {
    const block = this.#block
    if (block === undefined) throw new ConnectionError(errorCode.protocol, 'a continuation of nothing')
    block.bytes = Buffer.concat([block.bytes, payload])
    block.parts++
    if (block.bytes.length > headerBlockBytesMax || block.parts > 64) {
      throw new ConnectionError(errorCode.enhanceYourCalm, 'a header block goes on without end')
    }
    if ((flags & flag.endHeaders) === 0) return
    this.#block = undefined
    this.#takeBlock(block.flags, block.stream, block.bytes)
  }

  /** A request's headers, or trailers at the end of its body. */
  #takeBlock(flags: number, id: number, block: Buffer): void {
    const headers = new RequestHeaders()
    this.#decoder.decode(block, headers.take)
    const isEnd = (flags & flag.endStream) !== 0
    if (id <= this.#lastStream) {
      const stream = this.#streams.get(id)
      if (stream === undefined) return
      if (isEnd && !stream.isRemoteClosed) this.#remoteEnd(stream)
      else this.#resetStream(stream, errorCode.protocol)
      return
    }
    this.#lastStream = id
    const stream = new Stream(this, id, this.#peerStreamWindow)
    if (this.#isGoingAway || this.#streams.size >= streamsMax) {
      this.#resetStream(stream, errorCode.refusedStream)
      return
    }
    if (!headers.isComplete) {
      this.#resetStream(stream, errorCode.protocol)
      return
    }
    this.#streams.set(id, stream)
    stream.isRemoteClosed = isEnd
    stream.listener = this.#options.begin(headers, stream)
    if (isEnd) this.#remoteEnd(stream)
  }

  #resetStream(stream: Stream, code: number): void {
    this.#output.frame(frameType.resetStream, 0, stream.id, uint32(code))
    this.#cancel(stream)
    this.#endIfDone()
  }

  #takeReset(id: number, payload: Buffer): void {
    this.#checkStream(id)
    checkLength(payload, 4, 'RST_STREAM')
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    this.#cancel(stream)
    this.#endIfDone()
  }

  #takeSettings(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(errorCode.protocol, 'SETTINGS on a stream')
    if (flags & flag.ack) {
      checkLength(payload, 0, 'acknowledged SETTINGS')
      return
    }
    this.#hasSettings = true
    readSettings(payload, (id, value) => {
      if (id === setting.maxFrameSize) this.#peerFrameBytes = value
      if (id !== setting.initialWindowSize) return
      for (const stream of this.#streams.values()) stream.sendWindow += value - this.#peerStreamWindow
      this.#peerStreamWindow = value
    })
    this.#output.frame(frameType.settings, flag.ack, 0, Buffer.alloc(0))
    this.#sendWaiting()
  }

  #takePing(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(errorCode.protocol, 'PING on a stream')
    checkLength(payload, 8, 'PING')
    if ((flags & flag.ack) === 0) this.#output.frame(frameType.ping, flag.ack, 0, payload)
  }

  #takeWindowUpdate(id: number, payload: Buffer): void {
    checkLength(payload, 4, 'WINDOW_UPDATE')
    const more = payload.readUInt32BE(0) & windowBytesMax
    if (id === 0) {
      this.#sendWindow += more
      if (more === 0 || this.#sendWindow > windowBytesMax) {
        throw new ConnectionError(more === 0 ? errorCode.protocol : errorCode.flowControl, `a window grows by ${more}`)
      }
      this.#sendWaiting()
      return
    }
    this.#checkStream(id)
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    stream.sendWindow += more
    if (more === 0 || stream.sendWindow > windowBytesMax) {
      this.#resetStream(stream, more === 0 ? errorCode.protocol : errorCode.flowControl)
    } else if (this.#waiting.has(stream)) this.#sendBody(stream)
  }

  /** Only streams that were opened can be spoken of. */
  #checkStream(id: number): void {
    if (id === 0 || id > this.#lastStream || id % 2 === 0) {
      throw new ConnectionError(errorCode.protocol, `stream ${id} was not opened`)
    }
  }
}

function withoutPadding(payload: Buffer): Buffer {
  const padding = payload[0]
  if (padding === undefined || padding >= payload.length) {
    throw new ConnectionError(errorCode.protocol, 'a frame has more padding than payload')
  }
  return payload.subarray(1, payload.length - padding)
}

function checkLength(payload: Buffer, bytes: number, what: string): void {
  if (payload.length !== bytes) {
    throw new ConnectionError(errorCode.frameSize, `${what} of ${payload.length} bytes instead of ${bytes}`)
  }
}
