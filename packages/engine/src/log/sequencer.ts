/** A queue for one writer at a time. A task that answers at once runs at once; only a task that waits for the store makes others wait. */
import { isPromise, type MaybePromise } from '../maybe-promise.ts'

const settled = (): void => {}

export class Sequencer {
  #tail: Promise<void> | undefined

  /** Runs `task` after all earlier tasks; its error goes to this caller alone. */
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
