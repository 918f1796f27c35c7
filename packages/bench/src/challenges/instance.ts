/**
 * One process of a learner's program in JavaScript (program/host.mjs), with limits.
 *
 *   call ──▶ batch ──▶ process ──▶ batch: answers, and requests to the store, whose replies are in the next batch
 *
 * IN1  Simulated time stands still while the process works: it goes on when the process waits for the store, for time, or for nothing.
 *
 * A process is a guard against accidents and cheats, not against attacks: it may read files and open connections.
 */
import { DatastoreError, type StatusCode } from '@sixtables/engine'
import type { Db } from './db.ts'
import { deniedCode, deniedWords, ProgramFault, RefusedCall } from './fault.ts'
import { type Host, startHost } from './program-host.ts'
import { callInWords, type PendingCall, type ProcessOptions, ProgramProcess } from './program-process.ts'

interface InstanceOptions extends ProcessOptions {
  readonly path: string
  readonly seed: number
}

interface ErrorWords {
  readonly name?: string
  readonly message: string
  readonly code?: StatusCode | typeof deniedCode
  readonly place?: string
}

interface Batch {
  readonly ready?: readonly string[]
  readonly upTo: number
  readonly messages: readonly (
    | { readonly request: number; readonly of: number; readonly verb: string; readonly args: readonly unknown[] }
    | { readonly answer: number; readonly value?: unknown; readonly error?: ErrorWords }
  )[]
}

/** Simulated; a call that has no answer after so long waits for something that does not come. */
const callSecondsMax = 900
/** Real time for work of the program that the judge cannot see, such as a hash in another thread; and how often it may be in vain. */
const patienceMs = 250
const patienceTimes = 8

export class Instance extends ProgramProcess<InstanceOptions> {
  readonly #host: Host
  #outbox: unknown[] = []
  #isScheduled = false
  #sent = 0
  #heard = 0
  #inVain = 0
  #lastDb: Db | undefined

  constructor(options: InstanceOptions) {
    super(options)
    const { path, seed, limits, store } = options
    this.#host = startHost(
      { path, seed, limits, nowMs: store.clock.nowMicros() / 1000n },
      {
        onMessage: (batch) => this.#hear(batch as Batch),
        onPrinted: (text) => this.printed(text),
        onFailed: (error) => this.kill(new Error(`no process can be started: ${error.message}`)),
        onEnd: (why) => this.endBy(`${this.subject} ${why}.`),
      },
    )
  }

  protected override begin(call: PendingCall): void {
    this.#lastDb = call.db
    this.pending.set(call.id, call)
    this.#post({ call: call.id, name: call.name, args: call.args })
  }

  #post(message: unknown): void {
    if (this.end !== undefined) return
    this.#outbox.push(message)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const { store } = this.options
    // Behind all that sleeps until this moment: what wakes now goes with the same batch.
    void store.sleep(0).then(() => store.clock.hold(this.#exchange()))
  }

  /** Sends what there is at this moment of simulated time, and waits until the process has done what it can (IN1). */
  async #exchange(): Promise<void> {
    await this.#until(() => this.isReady)
    this.#isScheduled = false
    if (this.end !== undefined) return
    const messages = this.#outbox
    this.#outbox = []
    const number = ++this.#sent
    const now = Number(this.options.store.clock.nowMicros() / 1000n)
    this.#host.send({ number, now, messages })
    await this.#until(() => this.#heard >= number)
    // Answers of the same moment that came meanwhile go with the next batch, and the process may wait for them.
    const isIdle = (): boolean => this.pending.size === 0 || this.asked > 0 || this.#outbox.length > 0
    if (isIdle() || this.#inVain >= patienceTimes) return
    const heard = this.printedChars + this.requests + this.pending.size
    await this.#until(isIdle, patienceMs)
    if (heard === this.printedChars + this.requests + this.pending.size) this.#inVain++
  }

  /** Waits until something holds or the process has ended. Without a time it may take what the limits allow. */
  async #until(holds: () => boolean, atMostMs?: number): Promise<void> {
    const { wallSeconds } = this.options.limits
    const until = performance.now() + (atMostMs ?? wallSeconds * 1000)
    while (!holds() && this.end === undefined) {
      const leftMs = until - performance.now()
      if (leftMs <= 0) {
        if (atMostMs === undefined) this.endBy(`${this.subject} did not come back within ${wallSeconds} s.`)
        return
      }
      await this.pause(leftMs)
    }
  }

  #hear(batch: Batch | undefined): void {
    if (this.end !== undefined) return
    const { ready, upTo = 0, messages } = batch ?? {}
    // A program may send messages of its own.
    if (
      !Array.isArray(ready ?? messages) ||
      messages?.some((message) => typeof message !== 'object' || message === null)
    ) {
      this.endBy(`${this.subject} sent the judge a message that is none.`)
      return
    }
    if (ready === undefined) {
      for (const message of messages ?? []) {
        if ('request' in message) void this.#serve(message)
        else this.#answered(message.answer, message.value, message.error)
      }
      this.#heard = Math.max(this.#heard, upTo)
    } else {
      const missing = this.options.functions.map(({ name }) => name).filter((name) => !ready.includes(name))
      if (missing.length > 0) this.endBy(`The program must export ${missing.join(', ')}.`)
      this.isReady = true
    }
    this.wake()
  }

  #answered(id: number, value: unknown, error: ErrorWords | undefined): void {
    const call = this.pending.get(id)
    if (call === undefined) return
    this.pending.delete(id)
    if (error === undefined) call.resolve(value)
    else call.reject(errorOf(callInWords(call), error))
  }

  async #serve(message: { request: number; of: number; verb: string; args: readonly unknown[] }): Promise<void> {
    const { request, of, verb, args } = message
    this.countRequest()
    const db = this.pending.get(of)?.db ?? this.#lastDb
    if (db === undefined || this.end !== undefined) return
    this.asked++
    try {
      this.#post({ reply: request, value: await perform(db, verb, args) })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      if (!(error instanceof DatastoreError || error instanceof TypeError || error instanceof RangeError)) {
        this.kill(error)
        return
      }
      const code = error instanceof DatastoreError ? { code: error.code } : {}
      this.#post({ reply: request, error: { name: error.name, message: error.message, ...code } })
    } finally {
      this.asked--
    }
  }

  override checkPatience(): void {
    const { store } = this.options
    for (const call of this.pending.values()) {
      if (store.nowMs - call.begunMs > callSecondsMax * 1000)
        this.endBy(`${callInWords(call)} has no answer after ${callSecondsMax / 60} simulated minutes.`)
    }
  }

  protected override get subject(): string {
    return this.isReady ? super.subject : 'Loading the program'
  }

  protected override release(): void {
    this.#host.kill()
  }
}

function errorOf(words: string, { name = 'an error', message, code, place }: ErrorWords): Error {
  const at = place === undefined ? '' : ` (${place})`
  if (code === deniedCode) return new ProgramFault(`${words} ${deniedWords}${at}.`)
  if (code === undefined || name !== 'DatastoreError')
    return new ProgramFault(`${words} threw ${name}: ${message}${at}.`)
  return new RefusedCall(code, `${words} failed with ${code}: ${message}`)
}

/** The calls of {@link Db} that a program may make; a call checks its arguments, which are the program's. */
const verbs = ['sleep', 'get', 'getAll', 'query', 'count', 'allocateId', 'begin', 'commit', 'rollback'] as const

/** @throws DatastoreError of the service; TypeError and RangeError for arguments that make no sense */
async function perform(db: Db, verb: string, args: readonly unknown[]): Promise<unknown> {
  const known = verbs.find((one) => one === verb)
  if (known === undefined) throw new TypeError(`there is no call ${verb}`)
  const call = db[known] as (...args: readonly unknown[]) => unknown
  return await call.apply(db, [...args])
}
