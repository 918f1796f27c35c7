/**
 * The new log records of a commit: one for each entity group, with the changes of its entities. A commit of ToDo:1 and
 * User:2 makes two. Nothing is read or written here.
 */
import type { RequestContext } from '../context.ts'
import { checkCompositeRows } from '../indexes/row-limit.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { RequestLoad } from '../meter.ts'
import { forEachInSlices } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import { type EntityDelta, EntityRows, type IndexRules } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf, logRowKey } from '../tables/log-rows.ts'
import type { CommitInput, Footprint } from './commit-input.ts'
import { encodeLogRecord, type LogRecordHead } from './log-record.ts'
import type { PendingRecord } from './pending.ts'
import { RecordWrites } from './record-writes.ts'

const noGroups: readonly GroupCode[] = []

/** The footprint of a commit that changes nothing. */
export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

/** A record that will be written. */
export interface NewRecord extends PendingRecord {
  /** The encoded log record. */
  readonly value: Uint8Array
}

/** The records of a commit. Yields to other calls if there are many. */
export function recordsOf<T>(
  input: CommitInput<T>,
  deltas: readonly EntityDelta[],
  version: bigint,
): MaybePromise<readonly NewRecord[]> {
  const { context, transaction, database } = input
  const head: LogRecordHead = { transaction, groups: noGroups }
  const records: NewRecord[] = []
  return andThen(changesByGroup(context, deltas, database), (byGroup) => {
    const each = forEachInSlices(context, [...byGroup], workOfGroup, ([group, changes]) => {
      records.push(newRecord(input, head, group, changes, version))
    })
    return andThen(each, () => records)
  })
}

/**
 * The changes of entities by group, in order of first appearance.
 *
 * @param byGroup - filled and returned
 * @throws INVALID_ARGUMENT if an entity would have too many rows
 */
export function changesByGroup(
  context: RequestContext,
  deltas: readonly EntityDelta[],
  rules: IndexRules,
  byGroup: Map<GroupCode, EntityRows[]> = new Map(),
): MaybePromise<ReadonlyMap<GroupCode, readonly EntityRows[]>> {
  const each = forEachInSlices(context, deltas, workOfDelta, (delta) => {
    if (rules.indexes.length > 0) checkCompositeRows(delta, rules)
    const group = groupOf(delta.codes.partition, delta.codes.path)
    const rows = new EntityRows(delta, rules)
    const known = byGroup.get(group)
    if (known === undefined) byGroup.set(group, [rows])
    else known.push(rows)
  })
  return andThen(each, () => byGroup)
}

/** The number of index rows that these changes write and delete. */
export function indexUpdatesOf(changes: readonly EntityRows[]): number {
  let count = 0
  for (const { updates } of changes) count += updates
  return count
}

const workOfOne = 32
const bytesOfWork = 128

/** The work of a change in rows read: a few for an entity, more with many properties. */
function workOfDelta({ before, after }: EntityDelta): number {
  return workOfOne + ((before?.length ?? 0) + (after?.length ?? 0)) / bytesOfWork
}

function workOfGroup([, changes]: readonly [GroupCode, readonly EntityRows[]]): number {
  return changes.length * workOfOne
}

/** @param head - the same object for all records of a commit */
function newRecord(
  { context, database }: Pick<CommitInput<unknown>, 'context' | 'database'>,
  head: LogRecordHead,
  group: GroupCode,
  changes: readonly EntityRows[],
  version: bigint,
): NewRecord {
  const logRow = logRowKey(group, version)
  const value = encodeLogRecord(head, changes)
  const [first] = changes
  // The record of one new entity ends with its cell: both share the bytes.
  if (changes.length === 1 && first?.before === undefined && first?.after !== undefined) {
    first.after = value.subarray(value.length - first.after.length)
  }
  return {
    group,
    partition: (changes[0] as EntityRows).codes.partition,
    database: database.code,
    version,
    logRow,
    logBytes: logRow.length + value.length,
    value,
    changes,
    load: applyLoad(context),
    isUncounted: context.isUncounted,
    milestone: 'committed',
    held: false,
  }
}

/** The load of applying a request's commit; `undefined` = weight 1. */
function applyLoad({ weight, spreadMs }: RequestContext): RequestLoad | undefined {
  if (weight === 1) return undefined
  return { weight, spreadMs, requests: 0, startedMs: 0, delayMs: 0, refusal: undefined, admitted: true }
}

export function footprintOf(records: readonly NewRecord[]): Footprint {
  const entityRows: RowKey[] = []
  const groups: GroupCode[] = []
  for (const { group, changes } of records) {
    groups.push(group)
    for (const { row } of changes) entityRows.push(row)
  }
  let listed: RowKey[] | undefined
  const indexRows = (): readonly RowKey[] => {
    if (listed === undefined) {
      const rows: RowKey[] = []
      new RecordWrites([], records, 'B').writeTo({ write: (key: RowKey) => rows.push(key) })
      listed = rows
    }
    return listed
  }
  return { entityRows, indexRows, groups }
}
