/**
 * A store in memory that can hold writes back, like writes to a disk that are in progress: no reader sees them.
 *
 *   hold()     later writes wait; with `hold({ scans: true })` the rows of scans wait too
 *   land()     all waiting writes take effect, in order, and later ones do not wait
 *   lose()     all waiting writes fail, and change nothing
 */
import { DatastoreError } from '../../src/errors.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { WrappedKv } from '../../src/testing/wrapped-kv.ts'

interface Waiting {
  land(): void
  lose(error: unknown): void
}

export class HeldKv extends WrappedKv {
  #holds = false
  #holdsScans = false
  #waiting: Waiting[] = []

  constructor() {
    super(new MemoryKv(), 'held')
  }

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#waiting.length
  }

  hold(options: { readonly scans?: boolean } = {}): void {
    this.#holds = true
    this.#holdsScans = options.scans === true
  }

  land(): void {
    this.#holds = false
    this.#holdsScans = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.land()
  }

  lose(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.lose(new DatastoreError('UNAVAILABLE', 'The write was lost, by wish of this test.'))
  }

  protected read<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    return call()
  }

  protected override rowsOf<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    return this.#holdsScans ? this.write(call) : call()
  }

  protected write<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.#holds) return call()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ land: () => resolve(call()), lose: reject })
    })
  }
}
