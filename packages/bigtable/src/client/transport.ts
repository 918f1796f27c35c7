/**
 * gRPC calls of encoded messages, over several connections in turn: Google's front end accepts at most 100 concurrent calls
 * per connection.
 */
import { type CallCredentials, type ChannelCredentials, Client, type ClientOptions, Metadata } from '@grpc/grpc-js'
import { CallError, grpcCodes } from './call-error.ts'

export interface CallOptions {
  readonly timeoutMs: number
  /** The value of `x-goog-request-params`, by which Google's front end finds the instance. */
  readonly routing: string
}

export interface TransportOptions {
  /** `host:port`. */
  readonly address: string
  readonly credentials: ChannelCredentials
  /** Credentials of each call; absent for an emulator. */
  readonly callCredentials?: CallCredentials
  readonly connections: number
}

/** `google.bigtable.v2.FeatureFlags { reverse_scans: true }` in base64; without it Bigtable refuses reversed scans. */
const features = 'CAE='

/**
 * The messages of grpc-js for a stream that was reset with ENHANCE_YOUR_CALM or INADEQUATE_SECURITY. It reports them as
 * RESOURCE_EXHAUSTED and PERMISSION_DENIED, but they are not answers of a server, and the call may have had its effect.
 */
const resets: ReadonlySet<string> = new Set([
  'Bandwidth exhausted or memory limit exceeded',
  'Protocol not secure enough',
])

/** The message of grpc-js without a connection; the group is the reason. */
const noConnection = /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note: .*$/s

const clientOptions: ClientOptions = {
  // Each client opens connections of its own.
  'grpc.use_local_subchannel_pool': 1,
  // Only retry.ts repeats calls.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
}

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
const asBytes = (bytes: Buffer): Uint8Array => bytes

export class GrpcTransport {
  readonly #clients: readonly Client[]
  #next = 0

  constructor(options: TransportOptions) {
    const credentials =
      options.callCredentials === undefined ? options.credentials : options.credentials.compose(options.callCredentials)
    this.#clients = Array.from(
      { length: options.connections },
      () => new Client(options.address, credentials, clientOptions),
    )
  }

  /** A call with one answer. @throws CallError */
  unary(method: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const { metadata, callOptions } = this.#call(options)
      const done = (error: { readonly code: number; readonly details: string } | null, answer?: Uint8Array): void => {
        if (error !== null) reject(this.#error(error))
        else if (answer === undefined)
          reject(new CallError(grpcCodes.INTERNAL, 'the call was answered without a message'))
        else resolve(answer)
      }
      this.#client().makeUnaryRequest(method, asIs, asBytes, request, metadata, callOptions, done)
    })
  }

  /** A call with a stream of answers; resolves at its end. @throws CallError, and the errors of `onMessage` */
  stream(
    method: string,
    request: Uint8Array,
    options: CallOptions,
    onMessage: (bytes: Uint8Array) => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const { metadata, callOptions } = this.#call(options)
      const call = this.#client().makeServerStreamRequest(method, asIs, asBytes, request, metadata, callOptions)
      call.on('data', (bytes: Uint8Array) => {
        try {
          onMessage(bytes)
        } catch (error) {
          call.cancel()
          reject(error)
        }
      })
      call.on('error', (error: Error & { readonly code: number; readonly details: string }) =>
        reject(this.#error(error)),
      )
      call.on('end', resolve)
    })
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  #client(): Client {
    this.#next = (this.#next + 1) % this.#clients.length
    return this.#clients[this.#next] as Client
  }

  #call({ timeoutMs, routing }: CallOptions) {
    const metadata = new Metadata()
    metadata.set('x-goog-request-params', routing)
    metadata.set('bigtable-features', features)
    return { metadata, callOptions: { deadline: Date.now() + timeoutMs } }
  }

  #error({ code, details }: { readonly code: number; readonly details: string }): CallError {
    if (resets.has(details)) return new CallError(grpcCodes.UNAVAILABLE, details)
    return new CallError(code, details.replace(noConnection, '$1'))
  }
}
