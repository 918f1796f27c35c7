/** Every verb ends in one settlement of its ledger, whatever comes of it. */
import { checkAlive, type RequestContext } from '../context.ts'
import { finallyDo, type MaybePromise } from '../maybe-promise.ts'

/** Whom a verb tells of its begin and end. */
export interface Settlement {
  /** Called once, before the first row is touched. */
  begin(context: RequestContext): void
  /** Called once, with the rows the request touched; a promise is a delay of the answer, a throw replaces it. */
  settle(context: RequestContext): MaybePromise<void>
}

/** Runs a verb of a request that is still wanted, and settles its ledger. */
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
