/**
 * Validation of a transaction's reads at the stamp of its commit: nothing that it read may have changed after its moment.
 *
 *   rows, stretches of tables      no cell with a timestamp in (moment, stamp], deleted cells included
 *   entity groups                  no newer record
 *
 * Unfinished commits below the stamp that may touch the read set are resolved first. The commit itself is prepared in its groups by then, so of two
 * commits that each read what the other writes, at least one sees the other. A stretch includes the gaps between rows, and index rows have stamps, so
 * there are no phantoms.
 */
import {
  codesOfEntityRow,
  entityRowKey,
  entityRowOf,
  type GroupCode,
  groupOf,
  type ReadSet,
  type RowKey,
} from '@sixtables/engine/store'
import type { WantedCells } from '../row-store/row-store.ts'
import type { OwnCommit } from './clock-row.ts'
import { type GroupRow, readGroups } from './group-row.ts'
import type { DatabaseParts } from './resolve.ts'
import { readableMicros } from './shared-store.ts'

export interface CheckedReads {
  /** The moment that it reads at. */
  readonly moment: bigint
  readonly set: ReadSet
  /** The groups that were read, if groups are compared instead of rows. */
  readonly groups: readonly GroupCode[]
}

function groupOfRow(row: RowKey): GroupCode {
  const { partition, path } = codesOfEntityRow(row)
  return groupOf(partition, path)
}

export function isOfGroup({ set, groups }: CheckedReads, group: GroupCode): boolean {
  return (
    set.spans.length === 0 &&
    groups.every((one) => one === group) &&
    set.rows().every((key) => groupOfRow(key) === group)
  )
}

/** A cell of a row, without its value. */
const changed: WantedCells = { family: 'v', newest: 1, withoutValues: true }

/**
 * Whether reads of the one group that is written are unchanged in the row of the group: then APPEND decides, whose condition is that nothing comes
 * between. Other commits have to be in the log. A deletion of the group leaves no record, and is over when a later commit has its stamp: a floor
 * above the moment may be its trace, and the rows that were read then show whether it is.
 */
export async function isGroupAsRead(
  database: DatabaseParts,
  { moment, set, groups }: CheckedReads,
  row: GroupRow,
): Promise<boolean> {
  if (groups.length > 0 && row.head.version > moment) return false
  if (isForgotten(database, moment)) return false
  const isChanged = row.log.some(
    ({ stamp, record, group }) => stamp > moment && record.changes.some(({ path }) => set.has(rowOf(group, path))),
  )
  if (isChanged || row.head.floor <= moment || database.store.isOff('validation')) return !isChanged
  return !(await haveCells(database, set.rows(), { from: moment + 1n }))
}

/** Whether no read has changed up to the stamp of the commit. */
export async function areReadsUnchanged(
  database: DatabaseParts,
  { moment, set, groups }: CheckedReads,
  commit: OwnCommit,
): Promise<boolean> {
  const { store } = database
  const touched = new Set([...groups, ...set.rows().map(groupOfRow)])
  await resolveBelow(database, commit, (group) => set.spans.length > 0 || touched.has(group))
  if (groups.length > 0) {
    const rows = await readGroups(store, groups, commit.stamp)
    for (const { head } of rows.values()) if (head.version > moment) return false
  }
  const changes = { from: moment + 1n, until: commit.stamp + 1n }
  if (await haveCells(database, set.rows(), changes)) return false
  for (const range of set.spans) {
    const found = await store.rows.scanRows({ range, limit: 1, wanted: [{ ...changed, ...changes }] })
    if (found.length > 0) return false
  }
  return !isForgotten(database, moment)
}

/** Whether entity groups are the same at the stamp of the commit as in these rows. */
export async function areGroupsUnchanged(
  database: DatabaseParts,
  rows: ReadonlyMap<GroupCode, GroupRow>,
  commit: OwnCommit,
): Promise<boolean> {
  await resolveBelow(database, commit, (group) => rows.has(group))
  const now = await readGroups(database.store, [...rows.keys()], commit.stamp)
  return [...rows].every(([group, { head }]) => now.get(group)?.head.version === head.version)
}

async function haveCells(
  { store }: DatabaseParts,
  rows: readonly RowKey[],
  times: Pick<WantedCells, 'from' | 'until'>,
): Promise<boolean> {
  return rows.length > 0 && (await store.rows.readRows(rows, [{ ...changed, ...times }])).size > 0
}

/** Resolves unfinished commits below the stamp of a commit that may touch some groups. */
async function resolveBelow(
  { store, clock, resolver }: DatabaseParts,
  commit: OwnCommit,
  isTouched: (group: GroupCode) => boolean,
): Promise<void> {
  const state = await (store.isOff('validation-moment') ? clock.read() : clock.closed(commit.stamp))
  const mayTouch = state.listed.filter(
    ({ id, stamp, groups }) => id !== commit.id && stamp < commit.stamp && groups.some(isTouched),
  )
  if (!store.isOff('wait-in-validation')) await resolver.resolveAll(state, mayTouch, commit.stamp, commit)
}

/** Whether changes since a moment may have been swept. */
function isForgotten({ clock }: DatabaseParts, moment: bigint): boolean {
  return clock.now - moment > readableMicros
}

function rowOf(group: GroupCode, path: string): RowKey {
  const { partition } = codesOfEntityRow(entityRowOf(group))
  return entityRowKey(partition, path)
}
