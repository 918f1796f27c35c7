/** A Mutation of the wire to the engine's. The entity's bytes go through untouched. */

import { type ConflictCheck, decodeKey, invalidArgument, type Mutation, unimplemented } from '@sixtables/engine'
import type { Mutation as WireMutation } from '#gen/wire.js'
import { bigintOf, exactMicrosOf } from './int64.ts'
import type { RequestScope } from './request-scope.ts'

const serverValue = 1
const fail = 3

export function mutationOf(mutation: WireMutation, scope: RequestScope): Mutation {
  if (mutation.propertyMask !== null) {
    throw unimplemented('property_mask of a mutation is not built yet; write the whole entity')
  }
  if (mutation.propertyTransforms.length > 0) {
    throw unimplemented('property_transforms of a mutation are not built yet; write the values themselves')
  }
  const check = conflictCheckOf(mutation)
  const conflict = check === undefined ? {} : { conflict: check }
  if (mutation.upsert !== null) return { operation: 'upsert', entity: mutation.upsert, ...conflict }
  if (mutation.insert !== null) return { operation: 'insert', entity: mutation.insert, ...conflict }
  if (mutation.update !== null) return { operation: 'update', entity: mutation.update, ...conflict }
  if (mutation.delete !== null) return { operation: 'delete', key: decodeKey(mutation.delete, scope), ...conflict }
  throw invalidArgument('a mutation has no operation; it needs one of insert, update, upsert and delete')
}

function conflictCheckOf(mutation: WireMutation): ConflictCheck | undefined {
  const { baseVersion, updateTime, conflictResolutionStrategy: strategy } = mutation
  if (strategy !== 0 && strategy !== serverValue && strategy !== fail) {
    throw invalidArgument(`conflict_resolution_strategy ${strategy} is unknown; choose SERVER_VALUE (1) or FAIL (3)`)
  }
  if (baseVersion === null && updateTime === null) {
    if (strategy === 0) return undefined
    throw invalidArgument('conflict_resolution_strategy needs base_version or update_time to find a conflict by')
  }
  const resolution = strategy === fail ? 'fail' : 'serverValue'
  if (updateTime !== null) return { updateTime: exactMicrosOf(updateTime, 'update_time'), resolution }
  const version = baseVersion === null ? 0n : bigintOf(baseVersion)
  if (version < 0n) throw invalidArgument(`base_version is ${version}; versions are not negative`)
  return { baseVersion: version, resolution }
}
