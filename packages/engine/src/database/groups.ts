/** The entity groups of keys and queries. */
import { keyCodes } from '../encoding/key-codec.ts'
import { isSpecialKind } from '../metadata/special-kinds.ts'
import type { Key } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import { type GroupCode, groupOf } from '../tables/log-rows.ts'
import type { ReadScope } from '../transactions/read-views.ts'

export function groupsOf(keys: readonly Key[]): readonly GroupCode[] {
  const groups = keys.map((key) => {
    const { partition, path } = keyCodes(key)
    return groupOf(partition, path)
  })
  return groups.length < 2 ? groups : [...new Set(groups)]
}

/** The scope of a query. A query of metadata reads the whole database, whatever its ancestor. */
export function scopeOfQuery(query: Query, ancestor: Key | undefined): ReadScope {
  return ancestor === undefined || isSpecialKind(query) ? 'global' : groupsOf([ancestor])
}
