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
import type { Kv, KvSnapshot } from '../storage/kv.ts'
import { WrappedKv } from './wrapped-kv.ts'

export interface Fault {
  readonly kind: 'fail' | 'crash'
  /** Number of the faulty write, from 1. */
  readonly atWrite: number
  /** For a crash: before or after the effect of the write. Default `before`. */
  readonly when?: 'before' | 'after'
}

export class FaultyKv extends WrappedKv {
  #fault: Fault | undefined
  #writes = 0
  #state: 'sound' | 'poisoned' | 'crashed' = 'sound'

  /** Without a fault the store only counts writes until {@link crash} or {@link arm}. */
  constructor(inner: Kv, fault?: Fault) {
    super(inner, 'with faults')
    this.#fault = fault
  }

  /** Writes so far, including the faulty one. */
  get writes(): number {
    return this.#writes
  }

  get crashed(): boolean {
    return this.#state === 'crashed'
  }

  /** Sets a fault whose write 1 is the next write. */
  arm(fault: Fault): void {
    this.#fault = { ...fault, atWrite: this.#writes + fault.atWrite }
  }

  crash(): void {
    this.#state = 'crashed'
  }

  override snapshot(): KvSnapshot {
    if (this.#state === 'crashed') throw faultError('crash')
    return super.snapshot()
  }

  override close(): Promise<void> {
    return this.#state === 'crashed' ? Promise.resolve() : super.close()
  }

  protected read<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    return this.#state === 'crashed' ? refused() : call()
  }

  protected write<T>(call: () => MaybePromise<T>): MaybePromise<T> {
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
