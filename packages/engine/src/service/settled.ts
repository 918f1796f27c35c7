/** Every verb ends in one settlement of its ledger, whatever comes of it (C2). */
import { checkAlive, type RequestContext } from '../context.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'

/**
 * Runs a verb of a request that is still wanted, and settles its ledger.
 *
 * @param settle - called once, with the rows the request touched; a promise is a delay of the answer
 */
export function settled<T>(
  settle: (context: RequestContext) => MaybePromise<void>,
  context: RequestContext,
  verb: () => MaybePromise<T>,
): MaybePromise<T> {
  let result: MaybePromise<T>
  try {
    checkAlive(context)
    result = verb()
  } catch (error) {
    return andThen(settle(context), () => {
      throw error
    })
  }
  if (result instanceof Promise) {
    return result.then(
      (value) => andThen(settle(context), () => value),
      (error) =>
        andThen(settle(context), () => {
          throw error
        }),
    )
  }
  const value = result
  return andThen(settle(context), () => value)
}
