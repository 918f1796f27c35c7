/**
 * A store with a fault at a chosen write, for tests of the state after a crash between any two writes.
 *
 *   fail    the n-th write is refused and changes nothing; later reads work, later writes are refused (kv/K5)
 *   crash   the process "dies" at the n-th write, before or after its effect: this and every later call is refused
 *
 * Each of mutate, mutateIf, batch, deleteRanges and clear counts as one write, in call order from 1, also a mutateIf that finds
 * another value. The wrapped store stays open in `inner`: read it, or wrap it again as the restarted process would open it.
 */
import { DatastoreError } from '../errors.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, Kv, KvRow, KvScan, KvSnapshot, KvWrite, RowKey, ScanOptions, Writes } from '../storage/kv.ts'

export interface Fault {
  readonly kind: 'fail' | 'crash'
  /** Number of the faulty write, from 1. */
  readonly atWrite: number
  /** For a crash: before or after the effect of the write. Default `before`. */
  readonly when?: 'before' | 'after'
}

export class FaultyKv implements Kv {
  readonly inner: Kv
  #fault: Fault | undefined
  #writes = 0
  #state: 'sound' | 'poisoned' | 'crashed' = 'sound'

  /** Without a fault the store only counts writes until {@link crash} or {@link arm}. */
  constructor(inner: Kv, fault?: Fault) {
    this.inner = inner
    this.#fault = fault
  }

  /** Writes so far, including the faulty one. */
  get writes(): number {
    return this.#writes
  }

  get crashed(): boolean {
    return this.#state === 'crashed'
  }

  get location(): string {
    return `${this.inner.location}, with faults`
  }

  /** Sets a fault whose write 1 is the next write. */
  arm(fault: Fault): void {
    this.#fault = { ...fault, atWrite: this.#writes + fault.atWrite }
  }

  /** Crashes now: every later call is refused. */
  crash(): void {
    this.#state = 'crashed'
  }

  get(key: RowKey): MaybePromise<Uint8Array | undefined> {
    return this.#state === 'crashed' ? refused() : this.inner.get(key)
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    if (this.#state === 'crashed') return { next: () => refused(), seek() {}, close() {} }
    const scan = this.inner.scan(range, options)
    return {
      next: (count) => (this.#state === 'crashed' ? refused() : scan.next(count)),
      seek: (key) => scan.seek(key),
      close: () => scan.close(),
    }
  }

  mutate(write: KvWrite): MaybePromise<void> {
    return this.#write(() => this.inner.mutate(write))
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean> {
    return this.#write(() => this.inner.mutateIf(write, expected))
  }

  batch(writes: Writes): MaybePromise<void> {
    return this.#write(() => this.inner.batch(writes))
  }

  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): MaybePromise<void> {
    return this.#write(() => this.inner.deleteRanges(ranges, rows))
  }

  clear(rows?: readonly KvRow[]): MaybePromise<void> {
    return this.#write(() => this.inner.clear(rows))
  }

  snapshot(): KvSnapshot {
    if (this.#state === 'crashed') throw faultError('crash')
    const snapshot = this.inner.snapshot()
    return {
      get: (key) => (this.#state === 'crashed' ? refused() : snapshot.get(key)),
      scan: (range, options) => snapshot.scan(range, options),
      close: () => snapshot.close(),
    }
  }

  close(): Promise<void> {
    return this.#state === 'crashed' ? Promise.resolve() : this.inner.close()
  }

  #write<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    this.#writes++
    if (this.#state !== 'sound') return refused()
    const fault = this.#fault
    if (fault === undefined || fault.atWrite !== this.#writes) return call()
    if (fault.kind === 'fail') {
      this.#state = 'poisoned'
      return Promise.reject(faultError('fail'))
    }
    this.#state = 'crashed'
    return fault.when === 'after' ? andThen(call(), () => refused<T>()) : refused()
  }
}

function refused<T>(): Promise<T> {
  return Promise.reject(faultError('crash'))
}

function faultError(kind: 'fail' | 'crash'): DatastoreError {
  const what = kind === 'fail' ? 'A write failed' : 'The store is gone or refuses writes'
  return new DatastoreError('UNAVAILABLE', `${what}, by the fault this test asked for; open the store anew.`)
}
