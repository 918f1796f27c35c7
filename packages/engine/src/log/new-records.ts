/**
 * The log records of a commit: one for each entity group, with the changes of its entities. A commit of ToDo:1 and User:2 makes
 * two. Nothing is read or written here.
 */

import type { RequestContext } from '../context.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { checkCompositeRows } from '../indexes/row-limit.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { forEachInSlices, giveWay } from '../slices.ts'
import { type EntityDelta, EntityRows, type IndexRules } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf } from '../tables/log-rows.ts'
import { encodeLogRecord, headIn, type LogRecordHead } from './log-record.ts'

export interface NewRecord {
  readonly group: GroupCode
  readonly changes: readonly EntityRows[]
  readonly value: Uint8Array
}

/**
 * The records of a commit. On a store that several processes share, `head` names its groups: each gets a record, in that order, even
 * one in which no entity changes. Elsewhere `head` names none. INVALID_ARGUMENT for too many rows.
 */
export function recordsOf(
  context: RequestContext,
  deltas: readonly EntityDelta[],
  rules: IndexRules,
  head: LogRecordHead,
): MaybePromise<readonly NewRecord[]> {
  // They do not change during a commit; a database looks them up for each question.
  const known: IndexRules = { indexes: rules.indexes, indexOptions: rules.indexOptions }
  const rowsOf = (delta: EntityDelta): EntityRows => {
    if (known.indexes.length > 0) checkCompositeRows(delta, known)
    return new EntityRows(delta, known)
  }
  if (deltas.length === 1 && head.groups.length === 0) {
    const delta = deltas[0] as EntityDelta
    const rows = rowsOf(delta)
    const group = groupOf(rows.codes.partition, rows.path)
    return andThen(giveWay(context, workOfDelta(delta)), () => [newRecord(head, group, [rows])])
  }
  const byGroup = new Map<GroupCode, { readonly group: GroupCode; readonly changes: EntityRows[] }>()
  for (const group of head.groups) byGroup.set(group, { group, changes: [] })
  const grouped = forEachInSlices(context, deltas, workOfDelta, (delta) => {
    const group = groupOf(delta.codes.partition, delta.codes.path)
    getOrInsert(byGroup, group, () => ({ group, changes: [] })).changes.push(rowsOf(delta))
  })
  const records: NewRecord[] = []
  const workOfGroup = ({ changes }: Pick<NewRecord, 'changes'>): number => (changes.length + 1) * workOfOne
  const encoded = andThen(grouped, () =>
    forEachInSlices(context, [...byGroup.values()], workOfGroup, ({ group, changes }) => {
      records.push(newRecord(headIn(group, head), group, changes))
    }),
  )
  return andThen(encoded, () => records)
}

/** The number of index rows that a commit writes and deletes. */
export function indexUpdatesOf(records: readonly Pick<NewRecord, 'changes'>[]): number {
  let count = 0
  for (const { changes } of records) for (const { updates } of changes) count += updates
  return count
}

const workOfOne = 32
const bytesOfWork = 32

/** The work of a change in rows read: a few for an entity, more with many properties. */
function workOfDelta({ before, after }: EntityDelta): number {
  return workOfOne + ((before?.length ?? 0) + (after?.length ?? 0)) / bytesOfWork
}

function newRecord(head: LogRecordHead, group: GroupCode, changes: readonly EntityRows[]): NewRecord {
  const value = encodeLogRecord(head, changes)
  const [first] = changes
  // The record of one new entity ends with its cell: both share the bytes.
  if (changes.length === 1 && first?.before === undefined && first?.after !== undefined) {
    first.after = value.subarray(value.length - first.after.length)
  }
  return { group, changes, value }
}
