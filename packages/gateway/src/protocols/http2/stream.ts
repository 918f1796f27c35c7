/** One exchange on a connection: what is known of it, and its answering half. */
import type { ResponseStream, StreamListener } from '../grpc.ts'
import type { Connection } from './connection.ts'

export class Stream implements ResponseStream {
  readonly id: number
  readonly #connection: Connection
  /** Set as soon as somebody listens. */
  listener: StreamListener | undefined
  /** How many bytes of body the client takes now; may be negative after it lowered its window. */
  sendWindow: number
  receivedBytes = 0
  /** The client has sent all. */
  isRemoteClosed = false
  isAnswered = false
  /** No more is sent or received. */
  isClosed = false
  /** The part of the body that waits for the client's window. */
  unsent: Buffer | undefined

  constructor(connection: Connection, id: number, sendWindow: number) {
    this.#connection = connection
    this.id = id
    this.sendWindow = sendWindow
  }

  ok(frame: Buffer): void {
    this.#connection.answer(this, frame)
  }

  fail(status: number, message: string): void {
    this.#connection.fail(this, status, message)
  }

  refuse(httpStatus: number): void {
    this.#connection.refuse(this, httpStatus)
  }
}
