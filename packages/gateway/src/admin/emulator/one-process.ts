/** Controls that need a store of one process: where several gateways share the store, one of them can move or hold nothing for all. */
import { type Engine, unimplemented } from '@sixtables/engine'

/** @throws UNIMPLEMENTED with what to use instead, at a store that several gateways share */
export function needOneProcess(
  { isShared, store }: Pick<Engine, 'isShared' | 'store'>,
  { what, instead }: { readonly what: string; readonly instead: string },
): void {
  if (!isShared) return
  throw unimplemented(
    `${what}: not possible at a store that several gateways may share (${store.location}); ${instead}, or use a store of one process`,
  )
}
