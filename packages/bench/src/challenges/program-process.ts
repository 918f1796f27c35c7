/**
 * One process of a program, in whichever language, as the judge uses it: its calls under way, its limits and its end.
 *
 * PP1  However the process ends, its calls under way end with one sentence.               test/judge.test.ts, test/command-judge.test.ts
 */
import type { Store } from '../sim/store.ts'
import type { Db } from './db.ts'
import { Killed, ProgramFault } from './fault.ts'

/** A function that a program must have, with an example of a call. */
export interface ProgramFunction {
  readonly name: string
  /** Arguments by name, in the order in which a program in JavaScript gets them; `id` and `call` are names of the line itself. */
  readonly takes: Readonly<Record<string, unknown>>
  /** `null` where the answer does not matter. */
  readonly answers: unknown
}

export interface ProgramCall {
  readonly name: string
  /** How many calls of this function there were, with this one. */
  readonly count: number
  /** How requests of the call to the store are charged. */
  readonly db: Db
  readonly args: readonly unknown[]
}

/** The file of a program in JavaScript, which runs in simulated time; or a command in any language, which uses a server, and where it runs. */
export type ProgramSource = string | { readonly command: string; readonly folder: string }

/** Limits of one process. CPU time, memory and `wallSeconds` bound JavaScript, `startSeconds` and `callSeconds` commands. */
export const processLimits = {
  cpuSeconds: 10,
  memoryMegabytes: 256,
  /** Real time that one batch may take. */
  wallSeconds: 120,
  /** Real time from the start to the first answer or request. */
  startSeconds: 120,
  /** Time of a call, real and simulated; and real time without a sign of the process. */
  callSeconds: 60,
  outputBytes: 1_000_000,
  /** Requests to the store. */
  requests: 200_000,
}

export type ProcessLimits = Readonly<typeof processLimits>

export interface ProcessOptions {
  readonly store: Store
  readonly limits: ProcessLimits
  readonly functions: readonly ProgramFunction[]
  readonly onOutput: (text: string) => void
}

export interface PendingCall extends ProgramCall {
  readonly id: number
  /** When it was sent, in simulated milliseconds and in real ones. */
  begunMs: number
  begunAt: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export abstract class ProgramProcess<Options extends ProcessOptions = ProcessOptions> {
  protected readonly options: Options
  /** Calls that were sent to the process and have no answer, by id. */
  protected readonly pending: Map<number, PendingCall> = new Map()
  protected requests = 0
  /** Requests of the program that the store has not answered. */
  protected asked = 0
  protected printedChars = 0
  /** Whether the program has been loaded. */
  protected isReady = false
  protected end: Error | undefined
  readonly #waiting = new Set<() => void>()

  constructor(options: Options) {
    this.options = options
  }

  get callsUnderWay(): number {
    return this.pending.size
  }

  /** @throws ProgramFault; RefusedCall for an error of the service; Killed */
  call(id: number, call: ProgramCall): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      const begun = { begunMs: this.options.store.nowMs, begunAt: performance.now() }
      if (this.end === undefined) this.begin({ ...call, id, ...begun, resolve, reject })
      else reject(this.end)
    })
  }

  /** Ends the process; its calls under way end with the error. */
  kill(error: Error = new Killed()): void {
    if (this.end !== undefined) return
    this.end = error
    this.release()
    for (const { reject } of this.pending.values()) reject(error)
    this.pending.clear()
    this.wake()
  }

  /** Ends the process if a call has waited for too long. Told now and then. */
  abstract checkPatience(): void

  /** Sends a call, at once or later. */
  protected abstract begin(call: PendingCall): void

  /** Ends what belongs to the process, after its {@link end} is known. */
  protected abstract release(): void

  /** The subject of a sentence on the process's end. */
  protected get subject(): string {
    const [first] = this.pending.values()
    return first === undefined ? 'The program, between two calls,' : callInWords(first)
  }

  protected printed(text: string): void {
    if (this.end !== undefined) return
    this.printedChars += text.length
    if (this.printedChars > this.options.limits.outputBytes) this.endByFlood()
    else this.options.onOutput(text)
  }

  /** Ends the process by a mistake of the program. */
  protected endBy(words: string): void {
    this.kill(new ProgramFault(words))
  }

  protected endByFlood(): void {
    this.endBy(`${this.subject} printed more than ${this.options.limits.outputBytes / 1e6} MB.`)
  }

  /** Counts a request to the store. Too many end the process. */
  protected countRequest(): void {
    const { requests } = this.options.limits
    if (++this.requests > requests)
      this.endBy(`${this.subject} asked the store more than ${requests.toLocaleString('en-US')} times.`)
  }

  /** Waits for {@link wake}, at most so many real milliseconds. */
  protected async pause(atMostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, atMostMs)
      this.#waiting.add(resolve)
    })
    clearTimeout(timer)
  }

  protected wake(): void {
    for (const go of this.#waiting) go()
    this.#waiting.clear()
  }
}

/** A call for messages, such as `like` (its 3rd call). */
export function callInWords({ name, count }: Pick<ProgramCall, 'name' | 'count'>): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13
  const ending = isTeen ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[count % 10] ?? 'th')
  return `\`${name}\` (its ${count.toLocaleString('en-US')}${ending} call)`
}
