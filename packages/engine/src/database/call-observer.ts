/** Observers of calls: told once at the end of each call, with its ledger of rows and its fact, whatever its outcome. */
import { checkAlive, type RequestContext } from '../context.ts'
import { finallyDo, type MaybePromise } from '../maybe-promise.ts'

export interface CallObserver {
  /** Called before the first row is read: the observer may meter the rows of this call, in its ledger. */
  begin(context: RequestContext): void
  /** Called once; a promise delays the answer, an error replaces it. */
  ended(context: RequestContext): MaybePromise<void>
}

/** Runs a verb unless its caller is gone. */
export function observed<T>(
  observer: CallObserver,
  context: RequestContext,
  verb: () => MaybePromise<T>,
): MaybePromise<T> {
  observer.begin(context)
  return finallyDo(
    () => {
      checkAlive(context)
      return verb()
    },
    () => observer.ended(context),
  )
}
