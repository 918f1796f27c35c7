/**
 * gRPC over a stream of HTTP/2, which grpc-messages.ts describes: routing, messages, deadlines, cancellation and status.
 *
 *   CallHeaders ─▶ GrpcService.begin ─▶ StreamListener ◀─ data, end, cancelled
 *                                     └▶ ResponseStream ─▶ one answer, or one error
 *
 * `POST /google.datastore.v1.Datastore/Lookup` with `grpc-timeout: 500m` and the frame `00 00000012 message` is answered by a frame and the
 * trailer `grpc-status: 0`, or by a status such as 4 (DEADLINE_EXCEEDED). A `Lookup` is unary: one message in, one out, like all of the
 * data API. Other services may have methods that stream (grpc-stream.ts). A stream gets exactly one answer or error, unless its client is
 * gone. A malformed request ends its stream, never the server.
 *
 * Known: the gRPC protocol over HTTP/2.
 */
import { type DatastoreError, invalidArgument, unimplemented } from '@sixtables/engine'
import { type Answer, answerHeadBytes, Call, type Handler, watcherHeader } from '../call.ts'
import type { CallEnd, Calls } from '../calls/calls.ts'
import { dataService } from '../methods.ts'
import type { FairQueue } from './fair-queue.ts'
import {
  type CallHeaders,
  type CallParts,
  decompressedMessage,
  isPlainMessage,
  MessageReader,
  malformed,
  messageHeadBytes,
  type RawMessage,
  type ResponseStream,
  type StreamListener,
} from './grpc-messages.ts'
import { StreamingCall, type StreamingMethod } from './grpc-stream.ts'
import type { Serving } from './http-calls.ts'
import { statusOf } from './status.ts'

const dataPath = `/${dataService}/`
export const acceptedEncodings = 'identity,gzip'

const deaf: StreamListener = { data() {}, end() {}, cancelled() {} }

/** A service other than the data API. */
export interface GrpcMethods {
  /** The name with its package, such as `grpc.health.v1.Health`. */
  readonly name: string
  readonly unary?: Readonly<Record<string, Handler>>
  readonly streaming?: Readonly<Record<string, StreamingMethod>>
}

export interface GrpcServiceOptions extends Serving {
  readonly services?: readonly GrpcMethods[] | undefined
}

export class GrpcService {
  readonly #methods = new Map<string, Handler>()
  readonly #streaming = new Map<string, StreamingMethod>()
  readonly #services: readonly string[]
  readonly #streams = new Set<StreamingCall>()
  readonly #options: GrpcServiceOptions

  constructor(options: GrpcServiceOptions) {
    const { handlers, services = [] } = options
    const all: readonly GrpcMethods[] = [{ name: dataService, unary: handlers }, ...services]
    for (const { name, unary = {}, streaming = {} } of all) {
      for (const [method, handler] of Object.entries(unary)) this.#methods.set(`/${name}/${method}`, handler)
      for (const [method, handler] of Object.entries(streaming)) this.#streaming.set(`/${name}/${method}`, handler)
    }
    this.#services = [dataService, ...services.map(({ name }) => name)]
    this.#options = options
  }

  begin(headers: CallHeaders, response: ResponseStream): StreamListener {
    const { clock, logger, queue, calls } = this.#options
    const { ':method': verb, ':path': path = '', 'content-type': contentType, 'grpc-encoding': encoding } = headers
    // Also with `+proto` or parameters; not `application/grpc-web`.
    if (contentType !== 'application/grpc' && !/^application\/grpc(\+proto)?(;|$)/i.test(contentType ?? '')) {
      const message = `the content type "${contentType ?? ''}" is not served over HTTP/2; application/grpc is`
      response.refuse(415, { code: 'INVALID_ARGUMENT', message })
      return deaf
    }
    if (verb !== 'POST') {
      const message = `the verb ${verb ?? ''} is not served over HTTP/2; POST is`
      response.refuse(405, { code: 'INVALID_ARGUMENT', message })
      return deaf
    }
    try {
      const handler = this.#methods.get(path)
      const streaming = handler === undefined ? this.#streaming.get(path) : undefined
      if (handler === undefined && streaming === undefined) throw this.#unknownMethod(path)
      const isGzip = encoding !== undefined && isGzipEncoding(encoding)
      const call = new Call({
        clock,
        timeoutMs: timeoutMsOf(headers['grpc-timeout']),
        isUncounted: headers[watcherHeader] === '1',
      })
      if (streaming !== undefined) return this.#stream(streaming, { call, isGzip, response, logger })
      if (handler === undefined) return deaf
      if (calls.any && path.startsWith(dataPath)) calls.begin(call)
      return new UnaryCall({ handler, call, isGzip, response, logger, queue, calls, path })
    } catch (error) {
      response.fail(statusOf(error, logger))
      return deaf
    }
  }

  /** Ends the streaming calls, which would otherwise last as long as their clients. */
  close(): void {
    for (const call of this.#streams) call.close()
  }

  #stream(method: StreamingMethod, parts: CallParts): StreamingCall {
    const call = new StreamingCall(method, parts, (finished) => this.#streams.delete(finished))
    this.#streams.add(call)
    return call
  }

  #unknownMethod(path: string): DatastoreError {
    const [, service = '', method = ''] = path.split('/')
    return this.#services.includes(service)
      ? unimplemented(`the service ${service} has no method "${method}"`)
      : unimplemented(`the service "${service}" is not served here; there is ${this.#services.join(', ')}`)
  }
}

function isGzipEncoding(encoding: string): boolean {
  if (encoding === 'identity') return false
  if (encoding === 'gzip') return true
  throw unimplemented(`grpc-encoding "${encoding}" is not supported; ${acceptedEncodings} are`)
}

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/**
 * The header `grpc-timeout`, at most eight digits and a unit: `500m` is half a second. @returns milliseconds, possibly with a fraction;
 * `undefined` without a header
 */
function timeoutMsOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const unit = unitMs[header.at(-1) ?? '']
  const digits = header.slice(0, -1)
  if (unit === undefined || !/^\d{1,8}$/.test(digits)) {
    throw invalidArgument(`the header grpc-timeout is ${JSON.stringify(header)}: up to 8 digits and one of H M S m u n`)
  }
  return Number(digits) * unit
}

interface UnaryParts extends CallParts {
  readonly handler: Handler
  readonly queue: FairQueue
  readonly calls: Calls
  readonly path: string
}

class UnaryCall implements StreamListener {
  readonly #parts: UnaryParts
  /** Joins the chunks of a request that is not one whole chunk. */
  #reader: MessageReader | undefined
  /** Kept here only, so that a call that is cancelled releases it, also while it waits in the fair queue. */
  #message: RawMessage | undefined
  #deadline: NodeJS.Timeout | undefined
  #isFinished = false

  constructor(parts: UnaryParts) {
    this.#parts = parts
  }

  data(chunk: Buffer): void {
    if (this.#isFinished) return
    try {
      if (this.#reader === undefined && this.#message === undefined && isPlainMessage(chunk)) {
        this.#message = { compressed: false, bytes: chunk.subarray(messageHeadBytes) }
        return
      }
      this.#reader ??= new MessageReader()
      this.#reader.push(chunk, (message) => {
        if (this.#message !== undefined) throw malformed('a unary call has more than one request message')
        this.#message = message
      })
    } catch (error) {
      this.#fail(error)
    }
  }

  end(): void {
    if (this.#isFinished) return
    try {
      if (this.#reader?.isBetweenMessages === false) throw malformed('the request ends in the middle of a message')
      if (this.#message === undefined) throw malformed('the request ends without a message')
      const { compressed, bytes } = this.#message
      if (!compressed) this.#run()
      else if (this.#parts.isGzip) void this.#runCompressed(bytes)
      else throw malformed('the request message is marked as compressed, but there is no grpc-encoding header')
    } catch (error) {
      this.#fail(error)
    }
  }

  cancelled(): void {
    if (!this.#finish()) return
    this.#parts.call.cancel()
    this.#tell('CANCELLED', 'the client is gone')
  }

  #run(): void {
    const { handler, queue, call, response } = this.#parts
    const { bytes } = this.#message as RawMessage
    const result = queue.isFree(response.connection)
      ? handler(bytes, call)
      : queue.wait(response.connection, call, () => handler((this.#message as RawMessage).bytes, call))
    if (result instanceof Promise) {
      if (!this.#isFinished) this.#deadline = call.atDeadline((error) => this.#fail(error))
      result.then(
        (answer) => this.#answer(answer),
        (error) => this.#fail(error),
      )
    } else this.#answer(result)
  }

  async #runCompressed(compressed: Buffer): Promise<void> {
    try {
      const bytes = await decompressedMessage(compressed, this.#parts.response)
      if (this.#isFinished) return
      this.#message = { compressed: false, bytes }
      this.#run()
    } catch (error) {
      this.#fail(error)
    }
  }

  #answer(answer: Answer): void {
    if (!this.#finish()) return
    answer[0] = 0
    answer.writeUInt32BE(answer.length - answerHeadBytes, 1)
    this.#parts.response.ok(answer)
    if (this.#parts.call.beganAtMs !== undefined) this.#tell('OK')
  }

  #fail(error: unknown): void {
    if (!this.#finish()) return
    const status = statusOf(error, this.#parts.logger)
    this.#parts.response.fail(status)
    this.#tell(status.code, status.message)
  }

  #tell(code: CallEnd['code'], message?: string): void {
    const { calls, call, path } = this.#parts
    calls.end(call, { method: path.slice(dataPath.length), protocol: 'grpc', code, message })
  }

  /** Marks the call as finished. @returns whether it was still open, so that a second answer is never sent */
  #finish(): boolean {
    if (this.#isFinished) return false
    this.#isFinished = true
    this.#message = undefined
    if (this.#deadline !== undefined) clearTimeout(this.#deadline)
    return true
  }
}
