/**
 * The records that a commit will append: one for each entity group, with the changes of its entities, from which the rows
 * that applying it writes are made when they are written (tables/entity-rows.ts). Nothing is read or written here.
 */
import type { RequestContext } from '../context.ts'
import { rootPath } from '../encoding/key-codec.ts'
import { checkCompositeRows } from '../indexes/row-limit.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { RequestLoad } from '../meter.ts'
import { forEachInSlices } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import { type EntityDelta, EntityRows } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf, logRowKey } from '../tables/log-rows.ts'
import type { CommitInput, Footprint } from './commit-input.ts'
import { encodeLogRecord, type LogRecordHead } from './log-record.ts'
import type { PendingRecord } from './pending.ts'
import { RecordWrites } from './record-writes.ts'

const noGroups: readonly GroupCode[] = []

/** The footprint of a commit that changes nothing. */
export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

/** A record that is about to be written. */
export interface NewRecord extends PendingRecord {
  /** The log record. */
  readonly value: Uint8Array
}

/** The records of a commit; many of them give way to other calls. */
export function recordsOf<T>(
  input: CommitInput<T>,
  deltas: readonly EntityDelta[],
  version: bigint,
): MaybePromise<readonly NewRecord[]> {
  const { context, transaction } = input
  const records: NewRecord[] = []
  // Roots are mostly alone in their groups: then nothing need be brought together.
  const groups: (readonly [GroupCode, readonly EntityDelta[]])[] = []
  if (deltas.every(isRoot)) for (const delta of deltas) groups.push([groupOfDelta(delta), [delta]])
  else groups.push(...byGroup(deltas))
  const head: LogRecordHead = { transaction, groups: noGroups }
  const workOf = ([, own]: (typeof groups)[number]): number => own.reduce((sum, delta) => sum + workOfDelta(delta), 0)
  const each = forEachInSlices(context, groups, workOf, ([group, own]) => {
    records.push(newRecord(input, head, group, own, version))
  })
  return andThen(each, () => records)
}

function byGroup(deltas: readonly EntityDelta[]): ReadonlyMap<GroupCode, readonly EntityDelta[]> {
  const groups = new Map<GroupCode, EntityDelta[]>()
  for (const delta of deltas) {
    const group = groupOfDelta(delta)
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [delta])
    else known.push(delta)
  }
  return groups
}

const workOfOne = 32
const bytesOfWork = 128

/** Work in the unit of rows that are read: a few for an entity, and more for its properties. */
export function workOfDelta({ before, after }: EntityDelta): number {
  return workOfOne + ((before?.length ?? 0) + (after?.length ?? 0)) / bytesOfWork
}

function isRoot({ codes: { path } }: EntityDelta): boolean {
  return rootPath(path) === path
}

function groupOfDelta({ codes: { partition, path } }: EntityDelta): GroupCode {
  return groupOf(partition, path)
}

/** @param head - the same object for all records of a commit */
function newRecord(
  { context, database }: Pick<CommitInput<unknown>, 'context' | 'database'>,
  head: LogRecordHead,
  group: GroupCode,
  deltas: readonly EntityDelta[],
  version: bigint,
): NewRecord {
  const changes: EntityRows[] = []
  for (const delta of deltas) {
    if (database.indexes.length > 0) checkCompositeRows(delta, database)
    changes.push(new EntityRows(delta, database))
  }
  const logRow = logRowKey(group, version)
  const value = encodeLogRecord(head, changes)
  const [first] = changes
  // A record of one new entity ends with its cell: the bytes are kept once.
  if (changes.length === 1 && first?.before === undefined && first?.after !== undefined) {
    first.after = value.subarray(value.length - first.after.length)
  }
  return {
    group,
    partition: (deltas[0] as EntityDelta).codes.partition,
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
