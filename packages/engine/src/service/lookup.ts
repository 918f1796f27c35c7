/** Entities by key, from whatever view of the tables the read sees. */
import { checkAlive, type RequestContext } from '../context.ts'
import type { PropertyMask } from '../encoding/property-mask.ts'
import { validateLookupKey } from '../encoding/validate-key.ts'
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Key } from '../model/key.ts'
import { entityRowKeyOf, StoredImage } from '../tables/entities.ts'
import type { TableView } from '../tables/table.ts'
import type { FoundEntity, LookupResult } from './api.ts'
import { maskedImage } from './read-mask.ts'

/** Answers stay below the 4 MiB that default clients accept; the margin is for what stands around the entities. */
const answerBytesMax = 4 * 1024 * 1024 - 128 * 1024
/** Key, version, times and framing of one entity in an answer, roughly. */
const entityOverheadBytes = 96

export interface FoundKeys {
  readonly found: FoundEntity[]
  readonly missing: Key[]
  readonly deferred: Key[]
}

/** Throws INVALID_ARGUMENT for too many keys, and for one that names no entity of the database. */
export function checkLookup(keys: readonly Key[], database: Parameters<typeof validateLookupKey>[1]): void {
  if (keys.length > limits.lookupKeysMax) {
    throw invalidArgument(
      `the lookup names ${keys.length} keys, at most ${limits.lookupKeysMax} are allowed: divide them among several calls`,
    )
  }
  for (const key of keys) validateLookupKey(key, database)
}

/** Looks up each key once, in order; when the answer grows too large the rest is deferred. */
export function lookupKeys(
  context: RequestContext,
  view: TableView,
  keys: readonly Key[],
  mask: PropertyMask | undefined,
): MaybePromise<FoundKeys> {
  const answer: FoundKeys = { found: [], missing: [], deferred: [] }
  const seen = keys.length > 1 ? new Set<string>() : undefined
  let bytes = 0
  const take = (key: Key, cell: Uint8Array | undefined): void => {
    if (cell === undefined) {
      answer.missing.push(key)
      return
    }
    const stored = new StoredImage(cell)
    if (mask === undefined) {
      bytes += stored.propertiesBytes + entityOverheadBytes
      answer.found.push({ key, image: stored })
      return
    }
    const image = maskedImage(stored, mask)
    bytes += image.properties.length + entityOverheadBytes
    answer.found.push({ key, image })
  }
  const run = (from: number): MaybePromise<FoundKeys> => {
    for (let i = from; i < keys.length; i++) {
      const key = keys[i] as Key
      const row = entityRowKeyOf(key)
      if (seen !== undefined) {
        if (seen.has(row)) continue
        seen.add(row)
      }
      if (bytes > answerBytesMax) {
        answer.deferred.push(key)
        continue
      }
      const cell = view.get(context, 'Entities', row)
      if (cell instanceof Promise) {
        return cell.then((value) => {
          take(key, value)
          checkAlive(context)
          return run(i + 1)
        })
      }
      take(key, cell)
    }
    return answer
  }
  return run(0)
}

/** Field by field: V8 takes 1 µs to copy an object and add to it, and as long again to read what came of it. */
export function lookupResult(
  { found, missing, deferred }: FoundKeys,
  readTime: bigint,
  transaction: Uint8Array | undefined,
): LookupResult {
  return transaction === undefined
    ? { found, missing, deferred, readTime }
    : { found, missing, deferred, readTime, transaction }
}
