/** The id verbs of the v1 API: keys get new ids, and ids used elsewhere are excluded from allocation. */
import type { RequestContext } from '../context.ts'
import type { KeyDefaults } from '../encoding/key-message.ts'
import { validateAllocateKeys, validateKey } from '../encoding/validate-key.ts'
import { failedPrecondition } from '../errors.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { Superseded } from '../log/log-database.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { Key } from '../model/key.ts'
import { forEachInSlices } from '../slices.ts'
import type { TableView } from '../tables/table.ts'
import type { Mode } from './settings.ts'

/** A call for ids, and the parts of its database that it needs. */
export interface IdCall {
  readonly context: RequestContext
  readonly database: KeyDefaults & { readonly code: string; readonly settings: { readonly mode: Mode } }
  readonly ids: IdAllocator
  /** Absent if several processes share the store. */
  readonly log: CommitLog | undefined
  readonly view: TableView
}

type KeyIdCall = Pick<IdCall, 'context' | 'ids'> & { readonly database: Omit<IdCall['database'], 'code'> }

/** Path elements of the keys that are checked, completed or reserved in one step: each may have a counter. */
const elementsAtOnce = 512

const lengthOf = ({ path }: Key): number => path.length

/** @throws Superseded if a reset or a restore comes meanwhile: ids of the part, or of parts before it, are free again */
function inParts(
  { context, database, ids }: KeyIdCall,
  keys: readonly Key[],
  step: (part: readonly Key[]) => MaybePromise<void>,
): MaybePromise<void> {
  const parts: (readonly Key[])[] = []
  for (let start = 0; start < keys.length; ) {
    let end = start
    for (let elements = 0; end < keys.length && elements < elementsAtOnce; end++) elements += lengthOf(keys[end] as Key)
    parts.push(keys.slice(start, end))
    start = end
  }
  const counters = ids.countersOf(database)
  const checkCounters = (): void => {
    if (ids.countersOf(database) !== counters) throw new Superseded()
  }
  const done = forEachInSlices(
    context,
    parts,
    (part) => part.reduce((elements, key) => elements + lengthOf(key), 0),
    (part) => {
      checkCounters()
      return step(part)
    },
  )
  return andThen(done, checkCounters)
}

export function completeKeys(call: KeyIdCall, keys: readonly Key[]): MaybePromise<readonly Key[]> {
  const { context, database, ids } = call
  const completed: Key[] = []
  const checked = inParts(call, keys, (part) => validateAllocateKeys(part, database))
  const done = andThen(checked, () =>
    inParts(call, keys, (part) =>
      andThen(ids.completeKeys(context, part, 'scattered'), (some) => {
        for (const key of some) completed.push(key)
      }),
    ),
  )
  return andThen(done, () => completed)
}

export function reserveKeys(call: KeyIdCall, keys: readonly Key[]): MaybePromise<void> {
  const { context, database, ids } = call
  if (keys.length === 0 && database.settings.mode === 'firestore') {
    throw failedPrecondition('List of Ids to reserve cannot be empty. (name at least one key)')
  }
  const checked = inParts(call, keys, (part) => {
    for (const key of part) validateKey(key, 'complete', database)
  })
  return andThen(checked, () => inParts(call, keys, (part) => ids.reserve(context, part)))
}
