/**
 * gRPC on HTTP/2 connections that are handed to us. HTTP/2 is our own (http2/connection.ts): see
 * docs/decisions/0012-http2-of-our-own.md.
 *
 * H1  Requests whose origin or host is not welcome are refused before anything of them is read.    security.test.ts
 * H2  After close() no new stream is taken, and those under way are answered.                      grpc.test.ts
 */
import type { Socket } from 'node:net'
import type { Logger } from '../logger.ts'
import { deafListener, type GrpcService, type StreamListener } from './grpc.ts'
import type { Guard } from './guard.ts'
import { Connection } from './http2/connection.ts'
import type { RequestHeaders } from './http2/request-headers.ts'
import type { Stream } from './http2/stream.ts'

export interface Http2Options {
  readonly grpc: GrpcService
  readonly guard: Guard
  readonly logger: Logger
}

export class Http2Connections {
  readonly #connections = new Set<Connection>()
  readonly #options: Http2Options

  constructor(options: Http2Options) {
    this.#options = options
  }

  accept(socket: Socket): void {
    const { logger } = this.#options
    const connection = new Connection({
      socket,
      begin: this.#begin,
      onFault: (error) => logger.error(error instanceof Error ? String(error.stack) : String(error)),
      onClose: (closed) => this.#connections.delete(closed),
    })
    this.#connections.add(connection)
  }

  /** Asks clients to go elsewhere; calls under way are answered. */
  close(): void {
    for (const connection of this.#connections) connection.goAway()
  }

  readonly #begin = (headers: RequestHeaders, stream: Stream): StreamListener => {
    const { origin } = headers
    const host = headers.authority ?? headers.host
    if (this.#options.guard.refusal({ origin, host, site: undefined, mode: undefined }) !== undefined) {
      stream.refuse(403)
      return deafListener
    }
    return this.#options.grpc.begin(headers, stream)
  }
}
