/**
 * Calls whose request or answer is a stream of messages, such as `Health.Watch`. A call gets exactly one status, unless its client is gone.
 *
 *   client ─▶ message, message, end ─▶ StreamedRequest ┐
 *                                                      ├ a StreamingMethod
 *   client ◀─ message, message, status ◀─ StreamedAnswer ┘
 *
 * Answers are small and few here (health, reflection), so those that a client does not read simply wait in memory.
 */
import { DatastoreError, type MaybePromise } from '@sixtables/engine'
import { type Answer, answerHeadBytes } from '../call.ts'
import {
  type CallParts,
  decompressedMessage,
  MessageReader,
  malformed,
  type RawMessage,
  type StreamListener,
} from './grpc-messages.ts'
import { statusOf } from './status.ts'

/** The answers of a method. After the end, writing has no effect. */
export interface StreamedAnswer {
  write(message: Answer): void
  end(): void
}

/** A method's view of the request. An error that it throws, or rejects with, becomes the status of the call. */
export interface StreamedRequest {
  message(bytes: Buffer): MaybePromise<void>
  /** The client has sent its whole request. */
  end(): MaybePromise<void>
  /** The client is gone, or the deadline has passed. */
  cancelled?(): void
  /** The server closes: the last moment to answer, before the call ends with UNAVAILABLE. */
  closing?(): void
}

export type StreamingMethod = (answer: StreamedAnswer) => StreamedRequest

export class StreamingCall implements StreamListener {
  readonly #parts: CallParts
  readonly #reader = new MessageReader()
  readonly #request: StreamedRequest
  /** Resolves after the messages so far were handled: a method gets one at a time. */
  #tail: Promise<void> | undefined
  readonly #onFinish: (call: StreamingCall) => void
  #deadline: NodeJS.Timeout | undefined
  #isFinished = false

  /** @param onFinish - called once, at the end of the call */
  constructor(method: StreamingMethod, parts: CallParts, onFinish: (call: StreamingCall) => void) {
    this.#parts = parts
    this.#onFinish = onFinish
    this.#request = method({ write: (message) => this.#write(message), end: () => this.#end() })
    this.#deadline = parts.call.atDeadline((error) => {
      this.#fail(error)
      this.#request.cancelled?.()
    })
  }

  data(chunk: Buffer): void {
    if (this.#isFinished) return
    try {
      this.#reader.push(chunk, (message) => this.#inTurn(() => this.#take(message)))
    } catch (error) {
      this.#fail(error)
    }
  }

  end(): void {
    if (this.#isFinished) return
    if (this.#reader.isBetweenMessages) this.#inTurn(() => this.#request.end())
    else this.#fail(malformed('the request ends in the middle of a message'))
  }

  cancelled(): void {
    if (!this.#finish()) return
    this.#parts.call.cancel()
    this.#request.cancelled?.()
  }

  close(): void {
    if (this.#isFinished) return
    this.#request.closing?.()
    this.#fail(new DatastoreError('UNAVAILABLE', 'the server is shutting down'))
  }

  #take({ compressed, bytes }: RawMessage): MaybePromise<void> {
    if (!compressed) return this.#request.message(bytes)
    if (!this.#parts.isGzip) {
      throw malformed('a request message is marked as compressed, but there is no grpc-encoding header')
    }
    return decompressedMessage(bytes, this.#parts.response).then((request) => this.#request.message(request))
  }

  #inTurn(task: () => MaybePromise<void>): void {
    const run = (): MaybePromise<void> => (this.#isFinished ? undefined : task())
    try {
      const done = this.#tail === undefined ? run() : this.#tail.then(run)
      if (!(done instanceof Promise)) return
      const tail = done
        .catch((error) => this.#fail(error))
        .then(() => {
          if (this.#tail === tail) this.#tail = undefined
        })
      this.#tail = tail
    } catch (error) {
      this.#fail(error)
    }
  }

  #write(message: Answer): void {
    if (this.#isFinished) return
    message[0] = 0
    message.writeUInt32BE(message.length - answerHeadBytes, 1)
    this.#parts.response.write(message)
  }

  #end(): void {
    if (this.#finish()) this.#parts.response.end()
  }

  #fail(error: unknown): void {
    if (this.#finish()) this.#parts.response.end(statusOf(error, this.#parts.logger))
  }

  /** Marks the call as finished. @returns whether it was still open, so that a second status is never sent */
  #finish(): boolean {
    if (this.#isFinished) return false
    this.#isFinished = true
    this.#onFinish(this)
    if (this.#deadline !== undefined) clearTimeout(this.#deadline)
    return true
  }
}
