/**
 * Projects, databases and namespaces whose rows are being deleted: commits to them wait until the deletion is over.
 *
 *   reset      close ───────── rows go, other scopes commit ───────── open
 *   commit            waits ──────────────────────────────────────────── runs
 *
 * G1  From close() until it is opened again, nothing is committed to the scope, and no id or index row of it is written: a request
 *     waits before it begins, and one that has begun already finds the scope closed before its append, and begins anew.
 *                                                                          service/reset-beside.test.ts
 */
import type { RequestContext } from '../context.ts'
import { type MaybePromise, whenFails } from '../maybe-promise.ts'
import { whileWanted } from '../slices.ts'

/** Thrown before the append of a commit to a closed scope: the caller waits, and makes the commit again. */
export class ScopeClosed extends Error {
  /** Resolves when the scope is open again. */
  readonly over: Promise<void>

  constructor(over: Promise<void>) {
    super('the scope is closed')
    this.over = over
  }
}

export class ClosedScopes {
  /** By what the codes in the scope begin with. */
  readonly #closed = new Map<string, Promise<void>>()

  /**
   * Closes a scope. To be called while no commit is between evaluation and append.
   *
   * @returns what opens it again
   */
  close(scope: string): () => void {
    let opened = (): void => {}
    const over = new Promise<void>((resolve) => {
      opened = resolve
    })
    this.#closed.set(scope, over)
    return () => {
      this.#closed.delete(scope)
      opened()
    }
  }

  /** @throws ScopeClosed when the code of a database or an entity group lies in a closed scope */
  refuse(code: string): void {
    for (const [scope, over] of this.#closed) if (code.startsWith(scope)) throw new ScopeClosed(over)
  }
}

/**
 * Runs `work`; when it finds its scope closed, waits and runs `again`, as often as that happens.
 *
 * @param context - of the caller, who may go while it waits; absent = waits in any case
 * @throws CANCELLED, DEADLINE_EXCEEDED
 */
export function whenOpen<T>(
  context: RequestContext | undefined,
  work: () => MaybePromise<T>,
  again: () => MaybePromise<T> = work,
): MaybePromise<T> {
  return whenFails(work, (error) => {
    if (!(error instanceof ScopeClosed)) throw error
    const opened = context === undefined ? error.over : whileWanted(context, error.over)
    return opened.then(() => whenOpen(context, again))
  })
}
