/** A gRPC client on node:http2 that can also do what no proper client does. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'

export interface GrpcResult {
  /** `grpc-status`; `undefined` when there was none. */
  readonly status: number | undefined
  /** Decoded. */
  readonly message: string
  readonly httpStatus: number | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined | number>>
  /** The answer without its prefix; empty when there was no body. */
  readonly body: Buffer
  readonly resetCode: number
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** What is sent instead of one frame of the message: chunks, each a DATA frame of its own. */
  readonly chunks?: readonly Buffer[]
  /** Called once the request is sent. */
  readonly onStream?: (stream: ClientHttp2Stream) => void
  /** Leaves the request half open. */
  readonly keepOpen?: boolean
}

export function framed(message: Buffer, compressed = false): Buffer {
  const head = Buffer.alloc(5)
  head[0] = compressed ? 1 : 0
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

export class GrpcClient {
  readonly session: ClientHttp2Session

  private constructor(session: ClientHttp2Session) {
    this.session = session
  }

  static connect(port: number): Promise<GrpcClient> {
    return new Promise((resolve, reject) => {
      const session = connect(`http://127.0.0.1:${port}`, {
        maxSessionMemory: 256,
        settings: { initialWindowSize: 1 << 20 },
      })
      session.once('connect', () => resolve(new GrpcClient(session)))
      session.on('error', reject)
    })
  }

  call(path: string, message: Buffer, options: CallOptions = {}): Promise<GrpcResult> {
    const fullPath = path.startsWith('/') ? path : `/google.datastore.v1.Datastore/${path}`
    return new Promise((resolve) => {
      const stream = this.session.request({
        ':method': 'POST',
        ':path': fullPath,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...options.headers,
      })
      let headers: GrpcResult['headers'] = {}
      let trailers: GrpcResult['headers'] = {}
      const chunks: Buffer[] = []
      stream.on('response', (received) => {
        headers = received
      })
      stream.on('trailers', (received) => {
        trailers = received
      })
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('error', () => {})
      // An answer that came before all was sent leaves the sending half open.
      stream.on('end', () => setImmediate(() => stream.destroy()))
      stream.on('close', () => {
        const all = { ...headers, ...trailers }
        const status = all['grpc-status']
        const text = all['grpc-message']
        resolve({
          status: status === undefined ? undefined : Number(status),
          message: decodeURIComponent(String(text ?? '')),
          httpStatus: Number(headers[':status']) || undefined,
          headers: all,
          body: Buffer.concat(chunks).subarray(5),
          resetCode: stream.rstCode ?? constants.NGHTTP2_NO_ERROR,
        })
      })
      void sendAll(stream, options.chunks ?? [framed(message)], options.keepOpen === true)
      options.onStream?.(stream)
    })
  }

  close(): void {
    this.session.destroy()
  }
}

async function sendAll(stream: ClientHttp2Stream, chunks: readonly Buffer[], keepOpen: boolean): Promise<void> {
  for (const chunk of chunks) {
    if (stream.destroyed) return
    await new Promise<void>((resolve) => stream.write(chunk, () => resolve()))
  }
  if (!keepOpen) stream.end()
}
