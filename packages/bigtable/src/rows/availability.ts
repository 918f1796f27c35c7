/**
 * Whether the table can be used: a refusal that lasts (no table, no rights, an app profile that routes elsewhere) makes the whole store
 * fail, until a trial read and a trial conditional write succeed again. A refused call whose trial succeeds fails alone: the reason may be
 * the row that it names.
 *
 * AV1  A lasting refusal is told once, however many calls meet it, and so is its end.
 * AV2  One row that is refused does not make the store fail.                                   both: test/contract/outages.test.ts
 */
import type { DatastoreError, Scheduler, StoreState } from '@sixtables/engine'

const lasting: ReadonlySet<string> = new Set(['NOT_FOUND', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'])

const trialEveryMs = 1_000

type Listener = Parameters<Required<StoreState>['onFailure']>[0]

export class Availability {
  readonly #clock: Scheduler
  readonly #trial: () => Promise<unknown>
  readonly #listeners: Listener[] = []
  readonly #closing = new AbortController()
  #failure: DatastoreError | undefined
  #looking: Promise<void> | undefined

  /** @param trial - reads and writes, and changes nothing */
  constructor(clock: Scheduler, trial: () => Promise<unknown>) {
    this.#clock = clock
    this.#trial = trial
  }

  get failure(): DatastoreError | undefined {
    return this.#failure
  }

  onFailure(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** A call was refused. Resolves when it is known whether others are too. */
  async note(error: DatastoreError): Promise<void> {
    if (!lasting.has(error.code) || this.#failure !== undefined || this.#closing.signal.aborted) return
    this.#looking ??= this.#look(error).finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  close(): void {
    this.#closing.abort()
  }

  async #look(error: DatastoreError): Promise<void> {
    if (await this.#succeeds()) return
    if (this.#closing.signal.aborted) return
    this.#set(error)
    this.#untilAnswered().then(
      () => this.#set(undefined),
      // The store is closed.
      () => {},
    )
  }

  async #untilAnswered(): Promise<void> {
    do await this.#clock.sleep(trialEveryMs, this.#closing.signal, true)
    while (!(await this.#succeeds()))
  }

  #succeeds(): Promise<boolean> {
    return this.#trial().then(
      () => true,
      () => false,
    )
  }

  #set(failure: DatastoreError | undefined): void {
    this.#failure = failure
    for (const listener of this.#listeners) listener(failure)
  }
}
