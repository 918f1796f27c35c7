/** The checks of a commit's request: each mutation by itself, then the list. Nothing is read. */
import type { RequestContext } from '../context.ts'
import type { IndexOptions } from '../encoding/index-entries.ts'
import { parsePropertyMask } from '../encoding/property-mask.ts'
import { prepareEntity } from '../encoding/validate-entity.ts'
import { incompleteText, validateKey } from '../encoding/validate-key.ts'
import { invalidArgument } from '../errors.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { type DatabaseName, formatKey, isCompleteKey } from '../model/key.ts'
import { forEachInSlices } from '../slices.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import { checkExpectation } from '../transactions/conflict.ts'
import { type PreparedMutation, refuseRepeatedKeys } from '../transactions/mutations.ts'
import { prepareTransforms } from '../transactions/property-transform.ts'
import { tooManyGroups } from '../transactions/transaction.ts'
import type { CommitRequest, Mutation } from './api.ts'
import { groupsOf } from './groups.ts'
import type { DatabaseSettings } from './settings.ts'

export interface CheckedDatabase extends DatabaseName {
  readonly settings: DatabaseSettings
  readonly indexOptions: StoredIndexOptions
}

export function prepareMutations(
  database: CheckedDatabase,
  context: RequestContext,
  request: CommitRequest,
): MaybePromise<readonly PreparedMutation[]> {
  const { mode, transaction, singleUse } = request
  if (mode === 'nonTransactional' && (transaction !== undefined || singleUse !== undefined)) {
    throw invalidArgument(
      'a non-transactional commit names a transaction; leave it out or use mode TRANSACTIONAL',
      'non-transaction commit cannot specify a transaction',
    )
  }
  if (mode === 'transactional' && transaction === undefined && singleUse === undefined) {
    throw invalidArgument(
      'begin one, give a single-use transaction, or set mode NON_TRANSACTIONAL',
      'transactional commit requires a transaction',
    )
  }
  if (singleUse?.mode === 'readOnly') {
    throw invalidArgument(
      'a single-use transaction that commits must be read-write',
      'single_use_transaction in a commit request must be READ_WRITE.',
    )
  }
  const prepared: PreparedMutation[] = []
  const { indexOptions } = database
  const workOf = (mutation: Mutation): number =>
    workOfOne + (mutation.operation === 'delete' ? 0 : mutation.entity.length / bytesOfWork)
  const ready = forEachInSlices(context, request.mutations, workOf, (mutation) => {
    prepared.push(prepareMutation(mutation, database, indexOptions))
  })
  return andThen(ready, () => prepared)
}

/** Refuses pairs of mutations that a commit of several outside of a transaction may not contain. */
export function refuseTogether(
  database: CheckedDatabase,
  context: RequestContext,
  mode: CommitRequest['mode'],
  prepared: readonly PreparedMutation[],
): MaybePromise<void> {
  if (mode === 'nonTransactional') return refuseRepeatedKeys(context, prepared)
  refuseGroups(prepared, database.settings.entityGroupsMax)
}

/** The work of one mutation (check, evaluation, rows) in rows read; each `bytesOfWork` bytes count as one more. */
const workOfOne = 16
const bytesOfWork = 64

/** A single-use transaction has read nothing: it touches only the groups that it writes. */
function refuseGroups(prepared: readonly PreparedMutation[], entityGroupsMax: number | undefined): void {
  if (entityGroupsMax === undefined || prepared.length <= entityGroupsMax) return
  const isNewGroup = ({ key, automaticId }: PreparedMutation): boolean => automaticId && key.path.length === 1
  const roots = prepared
    .filter((mutation) => !isNewGroup(mutation))
    .map(({ key }) => ({ partition: key.partition, path: key.path.slice(0, 1) }))
  const touched = groupsOf(roots).length + prepared.filter(isNewGroup).length
  if (touched > entityGroupsMax) {
    throw invalidArgument(
      `the transaction touches ${touched} entity groups; it may touch ${entityGroupsMax}`,
      tooManyGroups,
    )
  }
}

/**
 * The check of one mutation from the request alone. The entity is checked whole, including properties outside of a mask (measured). The
 * result of mask and transforms on the stored entity is checked later (transactions/mutations.ts).
 *
 * @param database - of the request; completes the keys
 * @throws DatastoreError INVALID_ARGUMENT
 */
export function prepareMutation(
  mutation: Mutation,
  database: DatabaseName,
  indexOptions: IndexOptions,
): PreparedMutation {
  const { conflict, propertyMask } = mutation
  const mask = propertyMask === undefined ? undefined : parsePropertyMask(propertyMask)
  if (mutation.operation === 'delete') {
    const { operation, key } = mutation
    validateKey(key, 'complete', database)
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
