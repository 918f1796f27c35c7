/**
 * A store that answers everything by promise. Code that works with it does not depend on immediate answers.
 *
 * A call reaches the wrapped store one hop after it was made, and the answer comes one hop later, so that other calls run in
 * between. Writes keep their order (kv/K7). A snapshot is of the turn in which it was made; only its reads are late.
 */
import type { MaybePromise } from '../maybe-promise.ts'
import type { Kv } from '../storage/kv.ts'
import { WrappedKv } from './wrapped-kv.ts'

export class AsyncKv extends WrappedKv {
  readonly #hop: () => Promise<void>
  /** Two promises: the latest write has reached the store, and it was answered. */
  #reached: Promise<unknown> = Promise.resolve()
  #answered: Promise<unknown> = Promise.resolve()

  /** @param hop - the delay between a call and the store, and again between the store and the answer */
  constructor(inner: Kv, { hop = () => Promise.resolve() }: { readonly hop?: () => Promise<void> } = {}) {
    super(inner, 'by promise')
    this.#hop = hop
  }

  protected async read<T>(call: () => MaybePromise<T>): Promise<T> {
    await this.#hop()
    const answer = await call()
    await this.#hop()
    return answer
  }

  protected write<T>(write: () => MaybePromise<T>): Promise<T> {
    const answered = this.#answered
    const effect = Promise.all([this.#hop(), this.#reached]).then(write)
    const answer = effect.finally(() => Promise.all([this.#hop(), answered]))
    this.#reached = effect.catch(() => undefined)
    this.#answered = answer.catch(() => undefined)
    return answer
  }
}
