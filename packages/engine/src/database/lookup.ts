/** The lookup verb: entities by key. A strong read (the default) first applies the pending records of the groups. */
import type { RequestContext } from '../context.ts'
import type { KeyDefaults } from '../encoding/key-message.ts'
import { type PropertyMask, parsePropertyMask } from '../encoding/property-mask.ts'
import { validateKey } from '../encoding/validate-key.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { Key } from '../model/key.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import { giveWay } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import { entityRowKeysOf, StoredImage } from '../tables/entities.ts'
import type { TableView } from '../tables/table.ts'
import type { FoundEntity, LookupRequest, LookupResult } from './api.ts'
import { groupsOf } from './groups.ts'
import { maskedImage, maskWork } from './read-mask.ts'
import type { ReadResult } from './store-verbs.ts'
import type { VerbParts } from './verb-parts.ts'

/** Answers stay below the 4 MiB that default clients accept, with a margin for bytes around the entities. */
const answerBytesMax = 4 * 1024 * 1024 - 128 * 1024
/** Estimated bytes of key, version, times and framing of one entity in an answer. */
const entityOverheadBytes = 96

interface FoundKeys {
  readonly found: FoundEntity[]
  readonly missing: Key[]
  readonly deferred: Key[]
}

/** @throws INVALID_ARGUMENT for too many keys, or for a key that names no entity of the database */
export function lookup(
  { database, kv, reading }: VerbParts,
  context: RequestContext,
  { keys, read: options, propertyMask }: LookupRequest,
): MaybePromise<LookupResult> {
  checkPartCount(partLimits.lookupKeys, keys.length)
  return andThen(validRowsOf(context, keys, database), (rows) => {
    const mask = propertyMask === undefined ? undefined : parsePropertyMask(propertyMask)
    context.ledger.fact = { call: 'lookup', keys, isTransactional: options?.transaction !== undefined }
    const distinct = distinctOf(keys, rows)
    const read = reading.run(context, database, {
      options,
      scopeOf: () => groupsOf(keys),
      work: (view) => lookupKeys(context, view, distinct, mask),
      // A store that can read many rows together needs only one turn.
      isOfEntities: true,
      steps: keys.length === 1 || kv.getAll !== undefined ? 'one' : 'many',
    })
    return andThen(read, answerOf)
  })
}

/** Written field by field: copying an object and adding a field takes V8 1 µs, and slows down later reads of the fields. */
function answerOf({ found: { found, missing, deferred }, readTime, transaction }: ReadResult<FoundKeys>): LookupResult {
  return { found, missing, deferred, readTime, transaction }
}

/** Looks up each key once, in order. If the answer grows too large, the remaining keys are deferred. */
function lookupKeys(
  context: RequestContext,
  view: TableView,
  { asked, rows }: DistinctKeys,
  mask: PropertyMask | undefined,
): MaybePromise<FoundKeys> {
  const answer: FoundKeys = { found: [], missing: [], deferred: [] }
  let bytes = 0
  const take = (key: Key, cell: Uint8Array | undefined): Promise<void> | undefined => {
    if (cell === undefined) {
      answer.missing.push(key)
      return giveWay(context, 1)
    }
    const stored = new StoredImage(cell)
    if (mask === undefined) {
      bytes += stored.propertiesBytes + entityOverheadBytes
      answer.found.push({ key, image: stored })
      return giveWay(context, 1)
    }
    const image = maskedImage(stored, mask)
    bytes += image.properties.length + entityOverheadBytes
    answer.found.push({ key, image })
    return giveWay(context, maskWork(stored))
  }
  let cells: readonly (Uint8Array | undefined)[] | undefined
  const looked = forEachInOrder(asked, (key, i) => {
    if (bytes > answerBytesMax) {
      answer.deferred.push(key)
      return
    }
    const at = i % readTogether
    const together = at === 0 && rows.length > 1 ? view.getAll?.(context, 'Entities', part(rows, i)) : cells
    return andThen(together, (found) => {
      cells = found
      if (found !== undefined) return take(key, found[at])
      return andThen(view.get(context, 'Entities', rows[i] as RowKey), (cell) => take(key, cell))
    })
  })
  return andThen(looked, () => answer)
}

/** Rows of one read, if the view supports it; in a very large answer some rows are read in vain. */
const readTogether = 64

function part(rows: readonly RowKey[], from: number): readonly RowKey[] {
  return rows.length <= readTogether ? rows : rows.slice(from, from + readTogether)
}

interface DistinctKeys {
  readonly asked: readonly Key[]
  readonly rows: readonly RowKey[]
}

function distinctOf(keys: readonly Key[], rows: readonly RowKey[]): DistinctKeys {
  if (new Set(rows).size === keys.length) return { asked: keys, rows }
  const byRow = new Map<RowKey, Key>()
  for (const [i, row] of rows.entries()) if (!byRow.has(row)) byRow.set(row, keys[i] as Key)
  return { asked: [...byRow.values()], rows: [...byRow.keys()] }
}

/** The rows of keys, in slices: a thousand keys of a hundred elements take some 50 ms. @throws INVALID_ARGUMENT */
function validRowsOf(
  context: RequestContext,
  keys: readonly Key[],
  database: KeyDefaults,
): MaybePromise<readonly RowKey[]> {
  const rowsOf = (some: readonly Key[]): RowKey[] => {
    for (const key of some) validateKey(key, 'lookup', database)
    return entityRowKeysOf(some)
  }
  if (keys.length <= readTogether) return rowsOf(keys)
  const rows: RowKey[] = []
  const starts = Array.from({ length: Math.ceil(keys.length / readTogether) }, (_, i) => i * readTogether)
  const made = forEachInOrder(starts, (start) => {
    const some = keys.slice(start, start + readTogether)
    rows.push(...rowsOf(some))
    return giveWay(
      context,
      some.reduce((elements, { path }) => elements + path.length, 0),
    )
  })
  return andThen(made, () => rows)
}
