/**
 * The check of one mutation from the request alone, before anything is read or written. The entity is checked whole, including
 * properties outside of a mask (measured). The result of mask and transforms on the stored entity is checked later
 * (transactions/mutations.ts).
 */
import type { IndexOptions } from '../encoding/index-entries.ts'
import { parsePropertyMask } from '../encoding/property-mask.ts'
import { prepareEntity } from '../encoding/validate-entity.ts'
import { incompleteText, validateCompleteKey } from '../encoding/validate-key.ts'
import { invalidArgument } from '../errors.ts'
import { formatKey, isCompleteKey } from '../model/key.ts'
import { checkExpectation } from '../transactions/conflict.ts'
import type { PreparedMutation } from '../transactions/mutations.ts'
import { prepareTransforms } from '../transactions/property-transform.ts'
import type { Mutation } from './api.ts'

/**
 * @param database - of the request; completes the keys
 * @throws DatastoreError INVALID_ARGUMENT
 */
export function prepareMutation(
  mutation: Mutation,
  database: { readonly projectId: string; readonly databaseId: string },
  indexOptions: IndexOptions,
): PreparedMutation {
  const { conflict, propertyMask } = mutation
  const mask = propertyMask === undefined ? undefined : parsePropertyMask(propertyMask)
  if (mutation.operation === 'delete') {
    const { operation, key } = mutation
    validateCompleteKey(key, database)
    return {
      operation,
      key,
      automaticId: false,
      properties: undefined,
      entries: undefined,
      conflict,
      mask: undefined,
      transforms: undefined,
    }
  }
  const { operation, transforms } = mutation
  const { key, properties, entries } = prepareEntity(mutation.entity, database, indexOptions)
  const automaticId = !isCompleteKey(key)
  if (automaticId && operation === 'update') {
    throw invalidArgument(
      `update of ${formatKey(key)}: the last path element has neither id nor name`,
      incompleteText(key),
    )
  }
  if (automaticId && conflict !== undefined) {
    throw invalidArgument(
      `${formatKey(key)}: a base version or update time needs a complete key`,
      'conflict detection is not allowed for incomplete keys',
    )
  }
  if (conflict !== undefined) checkExpectation(operation, key, conflict)
  return {
    operation,
    key,
    automaticId,
    properties,
    entries,
    conflict,
    mask,
    transforms:
      transforms === undefined || transforms.length === 0 ? undefined : prepareTransforms(transforms, database),
  }
}
