/**
 * One HTTP request and its answer, with what they count for admission: a call, the bytes of the request, the bytes that are not
 * read yet.
 *
 * E1  All of it is given back once, when the answer is read or its reader is gone.                        overload.test.ts
 * E2  Answers of one turn of the event loop go out together at its end, or after a millisecond at the latest that the first
 *     of them was waiting for another call to be done.                                               http-exchange.test.ts
 *
 * Measured, 16 clients on one core: a client that waits is woken by each answer, which takes half of the time of a write;
 * with E2 the first wakes it, and the system's share of a call is 8 µs instead of 14.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { DatastoreError } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { Admission, Unread } from './admission.ts'
import { dropThenClose } from './lingering-close.ts'
import type { FileAnswer } from './router.ts'

export const textType = 'text/plain; charset=UTF-8'

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly #admission: Admission
  #call: Call | undefined
  #requestBytes = 0
  #isEnded = false
  #unread: Unread | undefined

  /** Admission has begun a call for it. */
  constructor(request: IncomingMessage, response: ServerResponse, admission: Admission) {
    this.request = request
    this.response = response
    this.#admission = admission
    response.once('close', () => this.#end())
  }

  /** The call is cancelled when the client goes away before it has its answer. */
  serve(call: Call): void {
    this.#call = call
  }

  /** More bytes of the request, as they came or decompressed. @throws RESOURCE_EXHAUSTED, CANCELLED after the end */
  take(bytes: number): void {
    if (this.#isEnded) throw new DatastoreError('CANCELLED', 'the client is gone')
    this.#admission.take(bytes)
    this.#requestBytes += bytes
  }

  /** The bytes of the request so far are not kept. */
  drop(): void {
    this.#admission.giveBack(this.#requestBytes)
    this.#requestBytes = 0
  }

  /** Sends an answer that a slow reader may leave unread. */
  answer(contentType: string, body: Body, status = 200): void {
    if (!send(this.response, status, contentType, body)) return
    this.#unread = this.#admission.hold(lengthOf(body), () => this.response.destroy())
  }

  /** Sends a file with headers of its own. */
  answerFile({ body, contentType, headers = {}, status = 200 }: FileAnswer): void {
    if (this.response.destroyed || this.response.headersSent) return
    for (const [name, value] of Object.entries(headers)) this.response.setHeader(name, value)
    this.answer(contentType, body, status)
  }

  #end(): void {
    this.#isEnded = true
    const admission = this.#admission
    admission.endCall()
    this.drop()
    if (this.#unread !== undefined) admission.read(this.#unread)
    if (this.#call !== undefined && !this.response.writableFinished) this.#call.cancel()
  }
}

interface Ready {
  readonly exchange: Pick<Exchange, 'answer'>
  readonly contentType: string
  readonly body: Buffer | string
}

/** How long an answer waits while calls that came with it are served. */
const waitMsMax = 1

/** Answers of one turn (E2). */
export class Outbox {
  #ready: Ready[] = []
  #since = 0
  readonly #now: () => number

  /** @param now - milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(exchange: Ready['exchange'], contentType: string, body: Buffer | string): void {
    const ready = this.#ready
    ready.push({ exchange, contentType, body })
    if (ready.length === 1) {
      this.#since = this.#now()
      setImmediate(this.#flush)
    } else if (this.#now() - this.#since > waitMsMax) this.#flush()
  }

  readonly #flush = (): void => {
    const ready = this.#ready
    this.#ready = []
    for (const { exchange, contentType, body } of ready) exchange.answer(contentType, body)
  }
}

/** Whole, or in pieces. */
export type Body = Buffer | string | readonly Buffer[]

/** Whether the client was still there. */
export function send(response: ServerResponse, status: number, contentType: string, body: Body): boolean {
  if (!sendHead(response, status, contentType, body)) return false
  if (typeof body === 'string' || Buffer.isBuffer(body)) response.end(body)
  else {
    for (const piece of body) response.write(piece)
    response.end()
  }
  return true
}

/** In bytes. */
function lengthOf(body: Body): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, piece) => sum + piece.length, 0)
}

/** The answer to a request whose rest is not wanted. The connection ends after it, once its client no longer sends. */
export function sendLast(request: IncomingMessage, response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return
  response.setHeader('Connection', 'close')
  if (!sendHead(response, status, textType, text)) return
  response.flushHeaders()
  if (text !== '') response.write(text)
  dropThenClose(request, () => response.end())
}

function sendHead(response: ServerResponse, status: number, contentType: string, body: Body): boolean {
  if (response.destroyed || response.headersSent) return false
  response.writeHead(status, [
    'Content-Type',
    contentType,
    'Content-Length',
    String(lengthOf(body)),
    'X-Content-Type-Options',
    'nosniff',
  ])
  return true
}
