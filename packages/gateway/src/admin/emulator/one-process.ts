/** A check for controls that need a store of one process: with a shared store, one gateway can hold or move nothing for the others. */
import { type Engine, unimplemented } from '@sixtables/engine'

/**
 * @param why - a clause about shared stores for the message, with an alternative if there is one
 * @throws UNIMPLEMENTED if several gateways share the store
 */
export function needOneProcess({ hasOtherWriters }: Pick<Engine, 'hasOtherWriters'>, why: string): void {
  if (hasOtherWriters)
    throw unimplemented(`a store that several gateways share ${why}. Use a store of one process for this.`)
}
