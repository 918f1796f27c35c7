/**
 * A call independent of its protocol: a handler gets the bytes of a request and returns the bytes of an answer.
 *
 *   protocol ─▶ handler(message, call) ─▶ engine verb ─▶ Answer ─▶ protocol
 *
 * An answer is five free bytes and then the message, so that gRPC writes its prefix in place. A call makes its abort signal when it
 * is first used, so that most calls pay nothing for it.
 */
import {
  CountingLedger,
  DatastoreError,
  type Ledger,
  type MaybePromise,
  type RequestContext,
  type Scheduler,
  type Slice,
} from '@sixtables/engine'
import type { CallFacts, CallTrace } from './calls/call-facts.ts'
import type { MethodName } from './methods.ts'

/** Number of free bytes before the message in an answer. */
export const answerHeadBytes = 5

/**
 * The request header, or gRPC metadata, of tools that only watch, with the value `1`. Such calls do not appear in lists, logs, recordings,
 * heat, statistics or findings, and no injected fault affects them.
 */
export const watcherHeader = 'x-sixtables-watcher'

/** A message of the response type, after {@link answerHeadBytes} free bytes. */
export type Answer = Buffer

export function messageOf(answer: Answer): Buffer {
  return answer.subarray(answerHeadBytes)
}

export interface CallOptions {
  readonly clock: Scheduler
  /** The project in the path of an HTTP request; absent for gRPC. */
  readonly pathProjectId?: string | undefined
  /** The client's timeout in milliseconds; absent = none. */
  readonly timeoutMs?: number | undefined
  /** Whether the request has the {@link watcherHeader}. */
  readonly isUncounted?: boolean
}

export class Call implements RequestContext {
  readonly clock: Scheduler
  readonly pathProjectId: string | undefined
  readonly timeoutMs: number | undefined
  /** The trace's ledger replaces it at the start of a traced call. */
  ledger: Ledger = new CountingLedger()
  readonly slice: Slice = { unseen: 0, work: 0, beganAt: undefined }
  readonly weight: number = 1
  readonly isUncounted: boolean
  readonly deadlineAt: number | undefined
  #controller: AbortController | undefined
  isCancelled = false
  /** Start time of the machine's clock in milliseconds; set only while there is an observer, until the end is reported (calls/calls.ts). */
  beganAtMs: number | undefined = undefined
  /** Details for an observer (calls/calls.ts). */
  trace: CallTrace | undefined = undefined
  /** Facts of the decoded request; set only while there is an observer. */
  facts: CallFacts | undefined = undefined

  constructor({ clock, pathProjectId, timeoutMs, isUncounted = false }: CallOptions) {
    this.clock = clock
    this.isUncounted = isUncounted
    this.pathProjectId = pathProjectId
    this.timeoutMs = timeoutMs
    this.deadlineAt = timeoutMs === undefined ? undefined : clock.steadyMs() + timeoutMs
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isCancelled) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** Calls `fail` and cancels the call if it lasts until its deadline. @returns the timer; `undefined` for a call without a timeout */
  atDeadline(fail: (error: DatastoreError) => void): NodeJS.Timeout | undefined {
    const { timeoutMs } = this
    if (timeoutMs === undefined) return undefined
    // Timers of whole seconds share one list in the runtime; the client keeps the exact time itself.
    const ms = Math.min(timeoutMs > 2000 ? Math.ceil(timeoutMs / 1000) * 1000 : Math.ceil(timeoutMs), 0x7fff_ffff)
    return setTimeout(() => {
      fail(new DatastoreError('DEADLINE_EXCEEDED', `the call took longer than its deadline of ${timeoutMs} ms`))
      this.cancel()
    }, ms).unref()
  }

  cancel(): void {
    this.isCancelled = true
    this.#controller?.abort()
  }
}

/** Answers one request message; throws or rejects with a DatastoreError. */
export type Handler = (request: Buffer, call: Call) => MaybePromise<Answer>

export type Handlers = Readonly<Record<MethodName, Handler>>
