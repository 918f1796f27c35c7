/** Every verb settles its ledger once, whatever its outcome. */
import { checkAlive, type RequestContext } from '../context.ts'
import { finallyDo, type MaybePromise } from '../maybe-promise.ts'

/** Callbacks at the begin and the end of a verb. */
export interface Settlement {
  /** Called once, before the first row is read. */
  begin(context: RequestContext): void
  /** Called once, with the rows of the request; a promise delays the answer, an error replaces it. */
  settle(context: RequestContext): MaybePromise<void>
}

/** Runs a verb unless its caller is gone, and settles its ledger. */
export function settled<T>(
  settlement: Settlement,
  context: RequestContext,
  verb: () => MaybePromise<T>,
): MaybePromise<T> {
  settlement.begin(context)
  return finallyDo(
    () => {
      checkAlive(context)
      return verb()
    },
    () => settlement.settle(context),
  )
}
