/** A queue for one at a time: entered at once while it is empty, else in the order of the calls. */
import { andThen, finallyDo, type MaybePromise } from './maybe-promise.ts'

export class Sequencer {
  isBusy = false
  #waiting: (() => void)[] = []

  /** @returns `undefined` if it is the caller's turn now, else a promise of it; the caller ends its turn by {@link leave} */
  enter(): Promise<void> | undefined {
    if (this.isBusy) return new Promise((resolve) => this.#waiting.push(resolve))
    this.isBusy = true
    return undefined
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.isBusy = false
    else next()
  }

  /** Runs `task` after all earlier turns; its error goes to this caller alone. */
  run<T>(task: () => MaybePromise<T>): MaybePromise<T> {
    return andThen(this.enter(), () => finallyDo(task, () => this.leave()))
  }

  async idle(): Promise<void> {
    while (this.isBusy) await this.run(() => {})
  }
}
