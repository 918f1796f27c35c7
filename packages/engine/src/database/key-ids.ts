/** The id verbs of the v1 API: keys get new ids, and ids used elsewhere are excluded from allocation. */
import type { RequestContext } from '../context.ts'
import type { KeyDefaults } from '../encoding/key-message.ts'
import { validateAllocateKeys, validateCompleteKey } from '../encoding/validate-key.ts'
import { failedPrecondition } from '../errors.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Key } from '../model/key.ts'
import type { Mode } from './settings.ts'

export interface KeyIdParts {
  readonly database: KeyDefaults & { readonly settings: { readonly mode: Mode } }
  readonly ids: IdAllocator
}

/** Completes each key with a new id, in order. */
export function completeKeys(
  { database, ids }: KeyIdParts,
  context: RequestContext,
  keys: readonly Key[],
): MaybePromise<readonly Key[]> {
  validateAllocateKeys(keys, database)
  return ids.completeKeys(context, keys, 'scattered')
}

/** Excludes the ids of the keys, and of their ancestors, from automatic allocation. */
export function reserveKeys(
  { database, ids }: KeyIdParts,
  context: RequestContext,
  keys: readonly Key[],
): MaybePromise<void> {
  if (keys.length === 0 && database.settings.mode === 'firestore') {
    throw failedPrecondition('List of Ids to reserve cannot be empty. (name at least one key)')
  }
  for (const key of keys) validateCompleteKey(key, database)
  return ids.reserve(context, keys)
}
