/** Converts a Mutation of the API to the engine's. The bytes of the entity stay as they are. */

import {
  type ConflictCheck,
  decodeArrayValue,
  decodeKey,
  decodeValue,
  invalidArgument,
  type Mutation,
  type PropertyTransform,
} from '@sixtables/engine'
import type { Mutation as WireMutation, PropertyTransform as WireTransform } from '#gen/wire.js'
import type { DatabaseName } from './parameters.ts'
import { bigintOf, exactMicrosOf } from './read-options.ts'

const serverValue = 1
const fail = 3
const requestTime = 1

export function mutationOf(mutation: WireMutation, scope: DatabaseName): Mutation {
  const { upsert, propertyMask: mask, baseVersion, updateTime, conflictResolutionStrategy } = mutation
  const isPlain = mask === null && mutation.propertyTransforms.length === 0
  const isUnconditional = baseVersion === null && updateTime === null && conflictResolutionStrategy === 0
  // The common case: an entity and nothing else.
  if (upsert !== null && isPlain && isUnconditional) return { operation: 'upsert', entity: upsert }
  const check = conflictCheckOf(mutation)
  const rest = {
    ...(check === undefined ? {} : { conflict: check }),
    ...(mask === null ? {} : { propertyMask: mask.paths }),
  }
  if (mutation.delete !== null) {
    if (mutation.propertyTransforms.length > 0) {
      throw invalidArgument(
        'a delete has property transforms; they go with insert, update and upsert',
        'Delete mutation cannot have PropertyTransforms.',
      )
    }
    return { operation: 'delete', key: decodeKey(mutation.delete, scope), ...rest }
  }
  const transforms = mutation.propertyTransforms.map((transform) => transformOf(transform, scope))
  const written = transforms.length === 0 ? rest : { ...rest, transforms }
  if (mutation.upsert !== null) return { operation: 'upsert', entity: mutation.upsert, ...written }
  if (mutation.insert !== null) return { operation: 'insert', entity: mutation.insert, ...written }
  if (mutation.update !== null) return { operation: 'update', entity: mutation.update, ...written }
  throw invalidArgument(
    'a mutation has no operation; it needs one of insert, update, upsert and delete',
    'Mutation is missing operation.',
  )
}

function conflictCheckOf(mutation: WireMutation): ConflictCheck | undefined {
  const { baseVersion, updateTime, conflictResolutionStrategy: strategy } = mutation
  if (strategy !== 0 && strategy !== serverValue && strategy !== fail) {
    throw invalidArgument(`conflict_resolution_strategy ${strategy} is unknown; choose SERVER_VALUE (1) or FAIL (3)`)
  }
  if (baseVersion === null && updateTime === null) {
    if (strategy === 0) return undefined
    throw invalidArgument(
      'conflict_resolution_strategy needs base_version or update_time to find a conflict by',
      'cannot set a conflict resolution strategy if no detection strategy was set',
    )
  }
  const resolution =
    strategy === 0 ? {} : { resolution: strategy === fail ? ('fail' as const) : ('serverValue' as const) }
  if (updateTime !== null) return { updateTime: exactMicrosOf(updateTime, 'update_time'), ...resolution }
  const version = baseVersion === null ? 0n : bigintOf(baseVersion)
  if (version < 0n)
    throw invalidArgument(
      `base_version is ${version}; versions are not negative`,
      `Invalid base_version: ${version}, it should be >= 0`,
    )
  return { baseVersion: version, ...resolution }
}

function transformOf(transform: WireTransform, scope: DatabaseName): PropertyTransform {
  const { property, setToServerValue, increment, maximum, minimum, appendMissingElements, removeAllFromArray } =
    transform
  const value = (bytes: Uint8Array) => decodeValue(bytes, scope, property)
  const values = (bytes: Uint8Array) => decodeArrayValue(bytes, scope, property)
  if (setToServerValue === requestTime) return { property, type: 'requestTime' }
  if (setToServerValue !== null) {
    throw invalidArgument(
      `set_to_server_value ${setToServerValue} of "${property}" is unknown; choose REQUEST_TIME (1)`,
    )
  }
  if (increment !== null) return { property, type: 'increment', value: value(increment) }
  if (maximum !== null) return { property, type: 'maximum', value: value(maximum) }
  if (minimum !== null) return { property, type: 'minimum', value: value(minimum) }
  if (appendMissingElements !== null) return { property, type: 'appendMissing', values: values(appendMissingElements) }
  if (removeAllFromArray !== null) return { property, type: 'removeAll', values: values(removeAllFromArray) }
  throw invalidArgument(`the transform of "${property}" has no operation; it needs one, such as increment`)
}
