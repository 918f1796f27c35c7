/** A gRPC call as HTTP/2 hands it over: the head of the request, its messages as they come, and the answer. */
import type { Call } from '../call.ts'
import type { Logger } from '../logger.ts'

/** The headers of a request that gRPC looks at. */
export interface RequestHead {
  readonly method: string | undefined
  readonly path: string
  readonly contentType: string | undefined
  readonly encoding: string | undefined
  readonly timeout: string | undefined
  /** As the watcherHeader of call.ts has it. */
  readonly watcher?: string | undefined
}

/** The answering half of a stream: one of ok, fail and refuse, or any number of writes and an end. */
export interface ResponseStream {
  /** The connection: its calls wait in one line. */
  readonly connection: object
  /** More bytes are held for the request until the stream is over. @throws RESOURCE_EXHAUSTED, CANCELLED after its end */
  take(bytes: number): void
  /** Headers, the frame as the body, and trailers with status OK. */
  ok(frame: Buffer): void
  /** Headers, if they are not sent yet, and a frame. */
  write(frame: Buffer): void
  /** Trailers with a status, after any number of frames. */
  end(status: number, message: string): void
  /** Headers alone, with the status in them; whatever the client still sends is not read. */
  fail(status: number, message: string): void
  /** No gRPC at all: headers alone, with an HTTP status beside the status of gRPC. */
  refuse(httpStatus: number, status: number, message: string): void
}

/** The asking half of a stream, as it is told to us. */
export interface StreamListener {
  data(chunk: Buffer): void
  /** The client has sent all. */
  end(): void
  /** The stream is over before it was answered. */
  cancelled(): void
}

/** The parts of every kind of call. */
export interface CallParts {
  readonly call: Call
  readonly isGzip: boolean
  readonly response: ResponseStream
  readonly logger: Logger
}
