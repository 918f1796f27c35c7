/**
 * One writer at a time. A task that answers at once runs at once; only tasks that wait for the store make others queue.
 */
import { isPromise, type MaybePromise } from '../maybe-promise.ts'

const settled = (): void => {}

export class Sequencer {
  #tail: Promise<void> | undefined

  /** Runs `task` after all tasks before it; its error is the caller's alone. */
  run<T>(task: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#tail !== undefined) return this.#hold(this.#tail.then(task))
    const result = task()
    return isPromise(result) ? this.#hold(result) : result
  }

  /** Resolves when nothing runs or waits. */
  async idle(): Promise<void> {
    while (this.#tail !== undefined) await this.#tail
  }

  #hold<T>(running: Promise<T>): Promise<T> {
    const tail = running.then(settled, settled).then(() => {
      if (this.#tail === tail) this.#tail = undefined
    })
    this.#tail = tail
    return running
  }
}
