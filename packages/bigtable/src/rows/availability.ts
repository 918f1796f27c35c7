/**
 * Availability of the table. After a call fails, a trial read and a trial conditional write decide whether the whole store has failed.
 *
 * A call answers PERMISSION_DENIED and the trial fails too: every call fails with that error, and health reports it once, until
 * a trial succeeds. A call answers INVALID_ARGUMENT because its row is too large and the trial succeeds: only that call fails.
 * The same holds for silence, no answer for 5 s: this process may have been stopped, so that all its answers were waiting. If the
 * table is deleted, the store has failed for good.
 *
 * AV1  After the table was deleted no call is sent any more. A table that is created again is another store, and a process that
 *      remembers rows of the old one would write into it.                                           test/contract/outages.test.ts
 */
import { DatastoreError, type Scheduler, type StoreState } from '@sixtables/engine'
import { TableMissing } from '../client/table-place.ts'

const lasting: ReadonlySet<string> = new Set(['NOT_FOUND', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'])

/** A call without an answer for this long counts as silence, unless other calls were answered meanwhile. */
const silentMs = 5_000

const trialEveryMs = 1_000

/** Time limit of a trial after a silence. */
const trialMs = 2_000

type Listener = Parameters<Required<StoreState>['onFailure']>[0]

export class Availability {
  readonly #clock: Scheduler
  readonly #trial: () => Promise<unknown>
  readonly #listeners: Listener[] = []
  readonly #closing = new AbortController()
  failure: DatastoreError | undefined
  #looking: Promise<void> | undefined
  isGone = false
  /** When the store last answered a call, in steady milliseconds. */
  answeredMs: number

  /** @param trial - a read and a write that change nothing */
  constructor(clock: Scheduler, trial: () => Promise<unknown>) {
    this.#clock = clock
    this.#trial = trial
    this.answeredMs = clock.steadyMs()
  }

  onFailure(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** @throws UNAVAILABLE after the table was deleted */
  checkThere(): void {
    if (this.isGone) throw this.failure
  }

  answered(): void {
    this.answeredMs = this.#clock.steadyMs()
  }

  /** Notes a call that was refused or not answered. Resolves when it is known whether the whole store has failed. */
  async note(error: DatastoreError): Promise<void> {
    if (error instanceof TableMissing) this.#gone(error)
    if (this.failure !== undefined || this.#closing.signal.aborted || this.#isPassing(error)) return
    this.#looking ??= this.#look(error).finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  close(): void {
    this.#closing.abort()
  }

  async #look(error: DatastoreError): Promise<void> {
    const problem = error.code === 'UNAVAILABLE' ? await this.#soon(error) : await this.#problem()
    if (problem === undefined || this.failure !== undefined || this.#closing.signal.aborted) return
    this.#set(error)
    this.#untilAnswered().then(
      () => {
        if (!this.isGone) this.#set(undefined)
      },
      // The store is closed.
      () => {},
    )
  }

  #isPassing({ code }: DatastoreError): boolean {
    if (code === 'UNAVAILABLE') return this.#clock.steadyMs() - this.answeredMs < silentMs
    return !lasting.has(code)
  }

  #gone({ missing, remedy }: TableMissing): void {
    if (this.isGone || this.#closing.signal.aborted) return
    this.isGone = true
    const time = new Date(Number(this.#clock.nowMicros() / 1000n)).toISOString().slice(11, 19)
    this.#set(
      new DatastoreError(
        'UNAVAILABLE',
        `there was no ${missing} at ${time} UTC; ${remedy}: it knows ids and indexes of the table that is gone, and serves no more`,
      ),
    )
  }

  async #untilAnswered(): Promise<void> {
    while (!this.isGone) {
      await this.#clock.sleep(trialEveryMs, this.#closing.signal, true)
      const problem = await this.#problem()
      if (problem === undefined) return
      // The reason may change: a silent Bigtable may refuse now, or a refusing one be silent.
      if (!this.isGone && !this.#isPassing(problem) && problem.code !== this.failure?.code) this.#set(problem)
    }
  }

  /** The outcome of a trial; the silence itself if the trial is not answered in time. */
  async #soon(silence: DatastoreError): Promise<DatastoreError | undefined> {
    const over = new AbortController()
    const late = this.#clock.sleep(trialMs, over.signal, true).then(
      () => silence,
      () => undefined,
    )
    return await Promise.race([this.#problem(), late]).finally(() => over.abort())
  }

  /** The error of a trial; `undefined` if it succeeded. */
  async #problem(): Promise<DatastoreError | undefined> {
    try {
      await this.#trial()
      this.answered()
      return undefined
    } catch (error) {
      if (error instanceof TableMissing) this.#gone(error)
      return error instanceof DatastoreError ? error : new DatastoreError('INTERNAL', String(error))
    }
  }

  #set(failure: DatastoreError | undefined): void {
    this.failure = failure
    for (const listener of this.#listeners) listener(failure)
  }
}
