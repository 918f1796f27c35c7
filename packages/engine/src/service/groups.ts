/** From keys to the entity groups they are of. */
import { keyCodes } from '../encoding/key-codec.ts'
import { type GroupCode, groupOf } from '../log/log-rows.ts'
import type { Key } from '../model/key.ts'

/** The entity groups of some keys, each once. */
export function groupsOf(keys: readonly Key[]): readonly GroupCode[] {
  const groups = keys.map((key) => {
    const { partition, path } = keyCodes(key)
    return groupOf(partition, path)
  })
  return groups.length < 2 ? groups : [...new Set(groups)]
}
