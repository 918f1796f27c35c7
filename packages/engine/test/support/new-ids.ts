/** New ids for the kind and parent of an incomplete key, in the order of the counter. */
import type { RequestContext } from '../../src/context.ts'
import type { IdAllocator, IdPolicy } from '../../src/ids/allocator.ts'
import { andThen, type MaybePromise } from '../../src/maybe-promise.ts'
import type { Key } from '../../src/model/key.ts'

export function newIds(
  allocator: IdAllocator,
  context: RequestContext,
  key: Key,
  count = 1,
  policy: IdPolicy = 'scattered',
): MaybePromise<bigint[]> {
  const completed = allocator.completeKeys(context, new Array<Key>(count).fill(key), policy)
  return andThen(completed, (keys) => keys.map(({ path }) => path.at(-1)?.id ?? 0n))
}
