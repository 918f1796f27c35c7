/**
 * One process of a learner's program in any language: it is started by a command, gets calls as lines of JSON and talks to a server.
 *
 *   {"id":7,"call":"findCustomer","n":17}  ──▶ standard input      standard output ──▶  {"id":7,"answer":{"name":"…"}}
 *                                                 the process  ──▶ served-database.ts ──▶ store
 *
 * CI1  Simulated time stands still while the process works: while a call is under way that waits for no request. If it is silent for some
 *      milliseconds, and the system says that it sleeps, it waits: for requests under way, and else for real time, with which simulated time
 *      then goes on. So it makes no difference how fast the computer is, and how busy.
 * CI2  Calls that are charged in different ways are not under way at once, since a request does not say to which call it belongs.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { DatastoreError, type StatusCode, statusCodes } from '@sixtables/engine'
import type { ChargedDatabase, Meter } from './charged-database.ts'
import { commandEndInWords, Killed, ProgramFault, RefusedCall } from './fault.ts'
import { isAsleep, killThoseWith } from './process-state.ts'
import { callInWords, type PendingCall, type ProcessOptions, ProgramProcess } from './program-process.ts'
import { serveDatabase } from './served-database.ts'

interface CommandOptions extends ProcessOptions {
  readonly command: string
  readonly folder: string
}

/** Real milliseconds of silence after which a process may be asleep: it waits for its requests under way, or for real time. */
const silentMs = { asked: 4, idle: 20, begins: 1000 } as const
/** The same where the system does not tell whether it sleeps. */
const surelySilentMs = 100

/** A variable of the command and of each process that it starts. */
const markName = 'SIXTABLES_JUDGED'

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export class CommandInstance extends ProgramProcess<CommandOptions> {
  #child: ChildProcess | undefined
  #close: (() => Promise<void>) | undefined
  readonly #queue: PendingCall[] = []
  /** Charges of the calls under way (CI2). */
  #meter: Meter | undefined
  #database: ChargedDatabase | undefined
  #isKeepingTime = false
  readonly #startedAt = performance.now()
  #heardAt = performance.now()
  #line = ''
  #errors = ''
  readonly #looking: NodeJS.Timeout
  readonly #mark = randomUUID()

  constructor(options: CommandOptions) {
    super(options)
    this.#looking = setInterval(() => this.checkPatience(), 250)
    void this.#start().catch((error: unknown) => this.kill(error instanceof Error ? error : new Error(`${error}`)))
  }

  override get callsUnderWay(): number {
    return this.pending.size + this.#queue.length
  }

  protected override begin(call: PendingCall): void {
    this.#queue.push(call)
    this.#send()
  }

  /** A call that takes too much real time ends the process. */
  override checkPatience(): void {
    const { startSeconds, callSeconds } = this.options.limits
    const now = performance.now()
    const [first] = this.pending.values()
    if (first === undefined) return
    if (!this.isReady) {
      if (now - this.#startedAt > startSeconds * 1000)
        this.endBy(`The program sent no answer, and nothing to the store, within ${startSeconds} s of its start.`)
      return
    }
    // A slow computer is no fault: while the process is heard, or simulated time stands still, a call may last.
    const { nowMs } = this.options.store
    const isStuck = Math.min(now - first.begunAt, nowMs - first.begunMs) > callSeconds * 1000
    if (isStuck || (this.#isWorking && now - this.#heardAt > callSeconds * 1000))
      this.endBy(`${callInWords(first)} has no answer after ${callSeconds} s.`)
  }

  async #start(): Promise<void> {
    const { store, command, folder } = this.options
    const served = await serveDatabase(store, (work) => this.#serve(work))
    this.#close = served.close
    if (this.end !== undefined) {
      await served.close()
      return
    }
    const child = spawn(command, {
      ...{ shell: true, cwd: folder, env: { ...process.env, ...served.variables, [markName]: this.#mark } },
      // A group of its own: a shell's children end with it.
      detached: process.platform !== 'win32',
    })
    this.#child = child
    for (const signal of endSignals) process.once(signal, this.#interrupted)
    child.stdin.on('error', () => {})
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#hear(text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-20_000)
      this.printed(text)
    })
    child.on('error', (error) => this.kill(new Error(`no process can be started: ${error.message}`)))
    child.on('close', (code, signal) => {
      const why = commandEndInWords(command, { code, signal, errors: this.#errors })
      this.endBy(why.startsWith('The ') ? why : `${this.subject} ${why}.`)
    })
    for (const call of this.pending.values()) this.#write(call)
  }

  /** Begins the calls that may be under way now (CI2). */
  #send(): void {
    for (;;) {
      const [next] = this.#queue
      if (next === undefined) break
      if (this.pending.size > 0 && this.#meter !== next.db.meter) break
      this.#queue.shift()
      this.#meter = next.db.meter
      this.#database = next.db.charged
      this.wake()
      next.begunAt = performance.now()
      next.begunMs = this.options.store.nowMs
      this.pending.set(next.id, next)
      if (this.#child !== undefined) this.#write(next)
    }
    this.#changed()
  }

  #write({ id, name, args }: PendingCall): void {
    const names = Object.keys(this.options.functions.find((one) => one.name === name)?.takes ?? {})
    const named = Object.fromEntries(names.map((one, i) => [one, args[i] ?? null]))
    this.#child?.stdin?.write(`${JSON.stringify({ id, call: name, ...named })}\n`)
  }

  #hear(text: string): void {
    const { outputBytes } = this.options.limits
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      if (this.end !== undefined) return
      if (line.trim() !== '') this.#answered(line)
    }
    if (this.#line.length > outputBytes) this.endByFlood()
  }

  #answered(line: string): void {
    const answer = answerOf(line)
    const call = typeof answer === 'string' ? undefined : this.pending.get(answer.id)
    if (typeof answer === 'string') this.endBy(answer)
    else if (call === undefined)
      this.endBy(`The program answered the call ${answer.id}, which is not under way: ${inShort(line)}`)
    else {
      this.pending.delete(answer.id)
      this.isReady = true
      if (answer.error === undefined) call.resolve(answer.value)
      else call.reject(errorOf(callInWords(call), answer.error))
      this.#send()
    }
  }

  async #serve<T>(work: (database: ChargedDatabase) => Promise<T>): Promise<T> {
    this.isReady = true
    // A process may ask for something when it starts, before its first call.
    while (this.#database === undefined && this.end === undefined) await this.pause(1000)
    if (this.end === undefined) this.countRequest()
    if (this.#database === undefined || this.end !== undefined) throw ended()
    this.asked++
    this.#changed()
    try {
      return await work(this.#database)
    } catch (error) {
      // A crash that the judge makes at this request has ended the process already.
      if (!(error instanceof DatastoreError || error instanceof Killed)) this.kill(error as Error)
      throw error instanceof DatastoreError ? error : ended()
    } finally {
      this.asked--
      this.#changed()
    }
  }

  get #isWorking(): boolean {
    return this.end === undefined && this.pending.size > this.asked
  }

  /** A call or a request has begun or ended. */
  #changed(): void {
    this.#heardAt = performance.now()
    if (!this.#isWorking) this.wake()
    else if (!this.#isKeepingTime) void this.#keepTime()
  }

  /** Keeps simulated time from going on, as long as the process works (CI1). */
  async #keepTime(): Promise<void> {
    const { clock } = this.options.store
    this.#isKeepingTime = true
    let [stepMs, heardAt] = [1, 0]
    while (this.#isWorking) {
      const silent = this.#untilSilent(heardAt === this.#heardAt)
      clock.hold(silent)
      await silent
      // The longer a process waits for its requests, the longer they are taken to last.
      stepMs = heardAt === this.#heardAt ? stepMs * 2 : 1
      heardAt = this.#heardAt
      if (this.#isWorking) await clock.sleep(this.asked > 0 ? stepMs : silentMs.idle)
    }
    this.#isKeepingTime = false
  }

  /**
   * Waits until the process has nothing to do, or does nothing that can be seen.
   *
   * @param isStill - whether it was silent before: if it waits for no request, simulated time goes on only as fast as real time then
   */
  async #untilSilent(isStill: boolean): Promise<void> {
    if (isStill && this.asked === 0) await this.pause(silentMs.idle)
    while (this.#isWorking) {
      // One that has said nothing yet may still be loading, or gather calls and answer them later.
      const leastMs = silentMs[this.isReady ? (this.asked > 0 ? 'asked' : 'idle') : 'begins']
      const forMs = performance.now() - this.#heardAt
      // The system may not tell whether it sleeps.
      if (forMs >= leastMs && (isAsleep(this.#child?.pid ?? 0) ?? forMs > surelySilentMs)) return
      // A look at a process with many threads takes long: the longer it has worked, the fewer.
      const leftMs = Math.max(leastMs - forMs, Math.min(forMs, 50))
      await this.pause(leftMs)
      // A judge that was busy reads first what has come meanwhile.
      await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
  }

  /** A terminal's Ctrl-C does not reach the process, since it has a group of its own. */
  readonly #interrupted = (signal: NodeJS.Signals): void => {
    this.kill(new Killed())
    process.kill(process.pid, signal)
  }

  protected override release(): void {
    clearInterval(this.#looking)
    for (const signal of endSignals) process.off(signal, this.#interrupted)
    killGroup(this.#child)
    // A child that has left the group, as by setsid, could keep for the next process what the store should have.
    if (this.#child !== undefined) killThoseWith(`${markName}=${this.#mark}`)
    void this.#close?.()
    for (const { reject } of this.#queue.splice(0)) reject(this.end)
  }
}

const ended = (): DatastoreError => new DatastoreError('UNAVAILABLE', 'the process has ended')

/** Ends a process, and those that it has started. */
function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' }).on('error', () => {})
    return
  }
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

interface Answer {
  readonly id: number
  readonly value: unknown
  readonly error: unknown
}

/** @returns a sentence where the line is no answer */
function answerOf(line: string): Answer | string {
  const shape = '{"id": …, "answer": …}'
  let found: unknown
  try {
    found = JSON.parse(line)
  } catch {
    return `The program printed a line that is no JSON: ${inShort(line)} Its standard output is for answers, such as ${shape}; print other things to the standard error.`
  }
  const answer: Readonly<Record<string, unknown>> = typeof found === 'object' && found !== null ? { ...found } : {}
  const { id } = answer
  if (typeof id !== 'number')
    return `The program printed a line that has no id of a call: ${inShort(line)} An answer is ${shape}.`
  if (!('answer' in answer || 'error' in answer))
    return `The program printed a line that has neither answer nor error: ${inShort(line)} An answer is ${shape}.`
  return { id, value: answer['answer'], error: answer['error'] ?? undefined }
}

/** An error with the code of the service is a refusal; any other one is a mistake of the program. */
function errorOf(words: string, error: unknown): Error {
  const { code, message } = (typeof error === 'object' ? error : { message: error }) as {
    code?: unknown
    message?: unknown
  }
  const known = statusOf(code)
  const said = String(message ?? '')
    .split('\n')[0]
    ?.slice(0, 300)
  if (known !== undefined) return new RefusedCall(known, `${words} failed with ${known}: ${said}`)
  return new ProgramFault(`${words} failed: ${said}${/[.!?]$/.test(said ?? '') ? '' : '.'}`)
}

/** By name, or by number as gRPC has it. */
function statusOf(code: unknown): StatusCode | undefined {
  const names = Object.keys(statusCodes) as StatusCode[]
  return names.find((name) => name === code || statusCodes[name] === code)
}

function inShort(line: string): string {
  return line.length > 80 ? `${line.slice(0, 80)}…` : `${line}.`
}
