/** A queue for one at a time: entered at once while it is empty, else in the order of the calls. */
import { andThen, finallyDo, type MaybePromise } from './maybe-promise.ts'

export class Sequencer {
  isBusy = false
  readonly #waiting: (() => void)[] = []
  /** Those that wait for the end of all turns. They take no turn: each turn of one would keep the others waiting. */
  readonly #watching: (() => void)[] = []

  /** @returns `undefined` if it is the caller's turn now, else a promise of it; the caller ends its turn by {@link leave} */
  enter(): Promise<void> | undefined {
    if (this.isBusy) return new Promise((resolve) => this.#waiting.push(resolve))
    this.isBusy = true
    return undefined
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    this.isBusy = false
    while (this.#watching.length > 0) this.#watching.shift()?.()
  }

  /** Runs `task` after all earlier turns; its error goes to this caller alone. */
  run<T>(task: () => MaybePromise<T>): MaybePromise<T> {
    return andThen(this.enter(), () => finallyDo(task, () => this.leave()))
  }

  async idle(): Promise<void> {
    while (this.isBusy) await new Promise<void>((resolve) => this.#watching.push(resolve))
  }
}
