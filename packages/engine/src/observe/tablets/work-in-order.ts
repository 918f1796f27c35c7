/** Tasks that run one after the other, in slices. Small work is done at once while nothing waits. */
import type { Scheduler } from '../../clock.ts'
import { type RequestContext, requestContext } from '../../context.ts'
import { andThen, finallyDo, type MaybePromise } from '../../maybe-promise.ts'
import { Sequencer } from '../../sequencer.ts'
import { runInSlices } from '../../slices.ts'

export class WorkInOrder {
  readonly #clock: Scheduler
  readonly #turns = new Sequencer()
  /** Shared by all work that waits, so that many small tasks are no long turn together. */
  #context: RequestContext

  constructor(clock: Scheduler) {
    this.#clock = clock
    this.#context = requestContext({ clock })
  }

  /** @param steps - yields the work of each step (slices.ts) */
  run(steps: Generator<number, void>): MaybePromise<void> {
    const turn = this.#turns.enter()
    if (turn === undefined) this.#context = requestContext({ clock: this.#clock })
    return andThen(turn, () =>
      finallyDo(
        () => runInSlices(this.#context, steps),
        () => this.#turns.leave(),
      ),
    )
  }

  /** Resolves when all work until now is done. */
  done(): MaybePromise<void> {
    return this.#turns.run(() => {})
  }
}
