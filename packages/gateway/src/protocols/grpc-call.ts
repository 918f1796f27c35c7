/**
 * The seam between gRPC (grpc.ts) and HTTP/2 (http2-server.ts), as interfaces.
 *
 *   CallHeaders      POST, /google.datastore.v1.Datastore/Lookup, application/grpc     the headers of a request
 *   StreamListener   data(chunk), data(chunk), end()                                   its body, as HTTP/2 delivers it
 *   ResponseStream   ok(frame), or fail({NOT_FOUND, "…"})                              its answer, once
 */
import type { IncomingHttpHeaders } from 'node:http2'
import type { Call, watcherHeader } from '../call.ts'
import type { Logger } from '../logger.ts'
import type { Status } from './status.ts'

/** The headers of a request. Node joins the values of a header that is there twice: only `set-cookie` is a list. */
export interface CallHeaders extends IncomingHttpHeaders {
  'grpc-encoding'?: string
  'grpc-timeout'?: string
  [watcherHeader]?: string
}

/** The answer: one of ok, fail and refuse, or any number of writes and an end. */
export interface ResponseStream {
  /** The key of the call's line in the fair queue. */
  readonly connection: object
  /** Counts more bytes for the request until the stream ends. @throws RESOURCE_EXHAUSTED; CANCELLED after its end */
  take(bytes: number): void
  /** Headers, the frame as the body, and trailers with status OK. */
  ok(frame: Buffer): void
  /** The headers, if they are not sent yet, and a frame. */
  write(frame: Buffer): void
  /** Trailers with a status, by default OK, after any number of frames. */
  end(status?: Status): void
  /** Headers alone, with the status in them; the rest of the request is not read. */
  fail(status: Status): void
  /** For a request that is not gRPC: headers alone, with an HTTP status and a gRPC status. */
  refuse(httpStatus: number, status: Status): void
}

/** The events of the request. */
export interface StreamListener {
  data(chunk: Buffer): void
  /** The client has sent its whole request. */
  end(): void
  /** The stream ended before it was answered. */
  cancelled(): void
}

/** The parts that unary and streaming calls share. */
export interface CallParts {
  readonly call: Call
  readonly isGzip: boolean
  readonly response: ResponseStream
  readonly logger: Logger
}
