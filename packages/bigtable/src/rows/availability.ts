/**
 * Whether the table can be used: a refusal that lasts (no rights, an app profile that routes elsewhere), or no answer for seconds, makes
 * the whole store fail, until a trial read and a trial conditional write succeed again. A table that is gone makes it fail for good. A
 * call whose trial succeeds fails alone: the reason of a refusal may be the row that it names, and of a silence that this process was
 * stopped or its machine suspended, so that all answers waited for it.
 *
 * AV1  A lasting refusal or silence is told once, however many calls meet it, and so is its end.
 * AV2  One row that is refused does not make the store fail.
 * AV3  A process that stood still does not take that time for silence of its Bigtable.
 * AV4  Once the table was gone, no call is sent any more: a table that was made anew is another store, and a process that knows rows of
 *      the old one would write what belongs to them.                                                 all: test/contract/outages.test.ts
 */
import { DatastoreError, type Scheduler, type StoreState } from '@sixtables/engine'
import { TableMissing } from '../client/place.ts'

const lasting: ReadonlySet<string> = new Set(['NOT_FOUND', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'])

/** A call that gives up while others are answered met an overload, or a bad connection. */
const silentMs = 5_000

const trialEveryMs = 1_000

/** A Bigtable that is not silent answers a trial within this time. */
const trialMs = 2_000

type Listener = Parameters<Required<StoreState>['onFailure']>[0]

export class Availability {
  readonly #clock: Scheduler
  readonly #trial: () => Promise<unknown>
  readonly #listeners: Listener[] = []
  readonly #closing = new AbortController()
  #failure: DatastoreError | undefined
  #looking: Promise<void> | undefined
  #isGone = false
  #answeredMs: number

  /** @param trial - reads and writes, and changes nothing */
  constructor(clock: Scheduler, trial: () => Promise<unknown>) {
    this.#clock = clock
    this.#trial = trial
    this.#answeredMs = clock.steadyMs()
  }

  get failure(): DatastoreError | undefined {
    return this.#failure
  }

  /** AV4 */
  get isGone(): boolean {
    return this.#isGone
  }

  onFailure(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** @throws UNAVAILABLE once the table was gone (AV4) */
  checkThere(): void {
    if (this.#isGone) throw this.#failure
  }

  /** A call succeeded. */
  answered(): void {
    this.#answeredMs = this.#clock.steadyMs()
  }

  /** A call was refused, or not answered. Resolves when it is known whether others are too. */
  async note(error: DatastoreError): Promise<void> {
    if (error instanceof TableMissing) this.#gone(error)
    if (this.#failure !== undefined || this.#closing.signal.aborted || this.#isPassing(error)) return
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
    if (problem === undefined) return
    if (this.#failure === undefined && !this.#closing.signal.aborted) this.#fail(error)
  }

  #isPassing({ code }: DatastoreError): boolean {
    if (code === 'UNAVAILABLE') return this.#clock.steadyMs() - this.#answeredMs < silentMs
    return !lasting.has(code)
  }

  #gone({ missing, remedy }: TableMissing): void {
    if (this.#isGone || this.#closing.signal.aborted) return
    this.#isGone = true
    const time = new Date(Number(this.#clock.nowMicros() / 1000n)).toISOString().slice(11, 19)
    this.#set(
      new DatastoreError(
        'UNAVAILABLE',
        `there was no ${missing} at ${time} UTC; ${remedy}: it knows ids and indexes of the table that is gone, and serves no more`,
      ),
    )
  }

  #fail(error: DatastoreError): void {
    this.#set(error)
    this.#untilAnswered().then(
      () => {
        if (!this.#isGone) this.#set(undefined)
      },
      // The store is closed.
      () => {},
    )
  }

  async #untilAnswered(): Promise<void> {
    while (!this.#isGone) {
      await this.#clock.sleep(trialEveryMs, this.#closing.signal, true)
      const problem = await this.#problem()
      if (problem === undefined) return
      // A Bigtable that was silent may refuse now, and the other way round.
      if (!this.#isGone && !this.#isPassing(problem) && problem.code !== this.#failure?.code) this.#set(problem)
    }
  }

  /** As {@link #problem}; the silence itself when the trial is not answered soon. */
  async #soon(silence: DatastoreError): Promise<DatastoreError | undefined> {
    const over = new AbortController()
    const late = this.#clock.sleep(trialMs, over.signal, true).then(
      () => silence,
      () => undefined,
    )
    return await Promise.race([this.#problem(), late]).finally(() => over.abort())
  }

  /** The outcome of a trial; `undefined` = it succeeded. */
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
    this.#failure = failure
    for (const listener of this.#listeners) listener(failure)
  }
}
