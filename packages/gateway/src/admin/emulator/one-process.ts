/** Controls that need a store of one process: where several gateways share the store, one of them can move or hold nothing for all. */
import { type Engine, unimplemented } from '@sixtables/engine'

/**
 * @param why - a clause about such a store, with what to do instead if there is something
 * @throws UNIMPLEMENTED with it, at a store that several gateways share
 */
export function needOneProcess({ isShared }: Pick<Engine, 'isShared'>, why: string): void {
  if (isShared) throw unimplemented(`a store that several gateways share ${why}. Use a store of one process for this.`)
}
