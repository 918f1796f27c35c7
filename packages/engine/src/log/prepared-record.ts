/**
 * What a commit is about to append: one record for each entity group, with the rows that applying it writes, computed from
 * the images before and after. Nothing is read or written here.
 */
import { rootPath } from '../encoding/key-codec.ts'
import type { DeferredValue, RowKey } from '../storage/kv.ts'
import type { TableWrite } from '../tables/table.ts'
import type { CommitInput, Footprint } from './commit-input.ts'
import { addIndexDelta, checkCompositeRows, type EntityStates } from './index-delta.ts'
import { applyLoad } from './log-charges.ts'
import { DeferredLogRecord, type EntityChange } from './log-record.ts'
import { type GroupCode, groupOf, logRowKey } from './log-rows.ts'
import type { PendingRecord } from './pending.ts'

export interface PreparedRecord extends PendingRecord {
  /** The log record. */
  readonly value: DeferredValue
  readonly indexUpdates: number
}

const noGroups: readonly GroupCode[] = []

/** Of a commit that changes nothing. */
export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

/**
 * The records of a commit; on a store without batch in the order of their groups.
 *
 * @param isFused - all of them are written in one batch, so that they are decided from their birth on
 */
export function prepareRecords<T>(
  input: CommitInput<T>,
  states: readonly EntityStates[],
  version: bigint,
  isFused: boolean,
): readonly PreparedRecord[] {
  // Roots are mostly alone in their groups: then nothing need be brought together.
  if (isFused && states.every(isRoot)) {
    return states.map((state) => prepare(input, groupOfState(state), [state], version, undefined))
  }
  const byGroup = new Map<GroupCode, EntityStates[]>()
  for (const state of states) {
    const group = groupOfState(state)
    const others = byGroup.get(group)
    if (others === undefined) byGroup.set(group, [state])
    else others.push(state)
  }
  const groups = [...byGroup.keys()]
  if (!isFused) groups.sort()
  // A decision row is needed by records of several groups alone.
  const deciding = isFused || groups.length === 1 ? undefined : groups
  return groups.map((group) => prepare(input, group, byGroup.get(group) ?? [], version, deciding))
}

function isRoot({ codes: { path } }: EntityStates): boolean {
  return rootPath(path) === path
}

function groupOfState({ codes: { partition, path } }: EntityStates): GroupCode {
  return groupOf(partition, path)
}

function prepare<T>(
  { context, database, transaction }: CommitInput<T>,
  group: GroupCode,
  states: readonly EntityStates[],
  version: bigint,
  deciding: readonly GroupCode[] | undefined,
): PreparedRecord {
  const changes: EntityChange[] = []
  const entityWrites: TableWrite[] = []
  const indexWrites: TableWrite[] = []
  let indexUpdates = 0
  let replaced: Set<RowKey> | undefined
  const onReplaced = (row: RowKey): void => {
    replaced ??= new Set()
    replaced.add(row)
  }
  for (const state of states) {
    const { codes, row, before, after } = state
    changes.push({ path: codes.path, before, after })
    entityWrites.push({ table: 'Entities', key: row, value: after })
    if (database.indexes.length > 0) checkCompositeRows(state, database)
    indexUpdates += addIndexDelta(state, database, indexWrites, onReplaced)
  }
  const value = new DeferredLogRecord(
    deciding === undefined
      ? { state: 'committed', transaction, groups: noGroups, changes }
      : { state: 'prepared', transaction, groups: deciding, changes },
  )
  const logRow = logRowKey(group, version)
  return {
    group,
    partition: states[0]?.codes.partition ?? '',
    database: database.code,
    version,
    logRow,
    logBytes: logRow.length + value.length,
    changes,
    entityWrites,
    indexWrites,
    replaced,
    load: applyLoad(context),
    indexUpdates,
    milestone: 'committed',
    value,
  }
}

export function footprintOf(records: readonly PreparedRecord[]): Footprint {
  const entityRows: RowKey[] = []
  const groups: GroupCode[] = []
  for (const { group, entityWrites } of records) {
    groups.push(group)
    for (const { key } of entityWrites) entityRows.push(key)
  }
  let listed: RowKey[] | undefined
  const indexRows = (): readonly RowKey[] => {
    listed ??= records.flatMap(({ indexWrites }) => indexWrites.map(({ key }) => key))
    return listed
  }
  return { entityRows, indexRows, groups }
}
