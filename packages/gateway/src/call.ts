/**
 * A call as handlers see it: no transport in it, bytes in and bytes out.
 *
 *   protocol ─▶ handler(message, call) ─▶ engine verb ─▶ Answer ─▶ protocol
 *
 * A1  An answer is five free bytes and then the message, so that gRPC writes its prefix without a copy.   answer-writer.ts
 * A2  The signal and the deadline of a call cost nothing until they are first used.
 */
import {
  CountingLedger,
  type Ledger,
  type MaybePromise,
  type RequestContext,
  type Scheduler,
  Slice,
} from '@sixtables/engine'
import type { CallFacts } from './calls/call-facts.ts'
import type { CallTrace } from './calls/call-trace.ts'
import type { MethodName } from './methods.ts'

/** How many bytes stand before the message in an answer. */
export const answerHeadBytes = 5

/**
 * The header of requests, and metadata of gRPC calls, of tools that look on, with the value `1`: they are in no list, log, recording, heat,
 * statistics or finding, and meet no injected fault.
 */
export const watcherHeader = 'x-sixtables-watcher'

/** A message of the response type, after {@link answerHeadBytes} free bytes. */
export type Answer = Buffer

/** The message of an answer. */
export function messageOf(answer: Answer): Buffer {
  return answer.subarray(answerHeadBytes)
}

export interface CallOptions {
  readonly clock: Scheduler
  /** The project that the path of an HTTP request names; gRPC has none. */
  readonly pathProjectId?: string | undefined
  /** How long the caller waits, in milliseconds; absent = for ever. */
  readonly timeoutMs?: number | undefined
  /** The request has the {@link watcherHeader}. */
  readonly isUncounted?: boolean
}

/** One call, and the engine's context of it. */
export class Call implements RequestContext {
  readonly clock: Scheduler
  readonly pathProjectId: string | undefined
  readonly timeoutMs: number | undefined
  /** Replaced at its begin by that of the trace, where there is one. */
  ledger: Ledger = new CountingLedger()
  readonly slice: Slice = new Slice()
  readonly weight: number = 1
  readonly isUncounted: boolean
  readonly #startedMs: number
  #controller: AbortController | undefined
  isCancelled = false
  /** When it began, in milliseconds of the machine; set while there is an observer, until the end is reported (calls/calls.ts). */
  beganAtMs: number | undefined = undefined
  /** Its doings, where an observer wants to know (calls/calls.ts). */
  trace: CallTrace | undefined = undefined
  /** Facts of its request, once decoded; noted while there is an observer. */
  facts: CallFacts | undefined = undefined

  constructor({ clock, pathProjectId, timeoutMs, isUncounted = false }: CallOptions) {
    this.clock = clock
    this.isUncounted = isUncounted
    this.pathProjectId = pathProjectId
    this.timeoutMs = timeoutMs
    this.#startedMs = timeoutMs === undefined ? 0 : clock.steadyMs()
  }

  get deadlineAt(): number | undefined {
    return this.timeoutMs === undefined ? undefined : this.#startedMs + this.timeoutMs
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isCancelled) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** The caller is gone, or its time is over. */
  cancel(): void {
    this.isCancelled = true
    this.#controller?.abort()
  }
}

/** Answers one request message; throws or rejects with a DatastoreError. */
export type Handler = (request: Buffer, call: Call) => MaybePromise<Answer>

export type Handlers = Readonly<Record<MethodName, Handler>>
