/** The evaluation of a commit over the newest images of its entities, and its records. Nothing is written. */
import {
  type CommitInput,
  type Committed,
  type CommittedReader,
  type EntityDelta,
  entityRowKeyOf,
  entityRowOf,
  evaluateMutations,
  type GroupCode,
  groupOf,
  headIn,
  indexUpdatesOf,
  type LogRecordHead,
  type RowKey,
  recordsOf,
} from '@sixtables/engine/store'
import type { Cell, Wanted } from '../row-store/row-store.ts'
import { valueInCell } from '../row-store/rows-kv.ts'
import type { OwnCommit } from './clock-row.ts'
import { type GroupRecord, type GroupRow, newestInLog, readGroup, refuseFull } from './group-row.ts'
import type { DatabaseParts } from './resolve.ts'
import { checkRowKeys } from './row-key-lengths.ts'

export interface Attempted {
  readonly input: CommitInput
  readonly commit: OwnCommit
  /** The epoch in which it has its stamp. */
  readonly epoch: number
}

export interface Evaluation {
  /** A record for each group of the commit, in their order, empty for a group without changes; no records at all if nothing changes. */
  readonly records: readonly GroupRecord[]
  readonly committed: Committed
  /** The entities that were read. */
  readonly evaluated: readonly RowKey[]
}

/** The newest cells of entities below the roots of their groups; `undefined` for one that is not there. */
export type Children = ReadonlyMap<RowKey, Cell | undefined>

const childrenPerCall = 1_000
const newestCell: Wanted = [{ family: 'v', newest: 1 }]

/**
 * Reads together the entities that commits name, since their evaluation asks for one after the other. It may run at the same time as the reading
 * of their groups: what enters a log meanwhile either is found there, or makes the append fail.
 */
export async function childrenOf(
  { store }: DatabaseParts,
  inputs: readonly Pick<CommitInput, 'mutations'>[],
): Promise<Children> {
  const named = inputs.flatMap(({ mutations }) => mutations.filter(({ key }) => key.path.length > 1))
  const children = new Map<RowKey, Cell | undefined>()
  for (let at = 0; at < named.length; at += childrenPerCall) {
    const keys = named.slice(at, at + childrenPerCall).map(({ key }) => entityRowKeyOf(key))
    const found = await store.rows.readRows(keys, newestCell)
    for (const key of keys) children.set(key, found.get(key)?.cells.v?.[0])
  }
  return children
}

/**
 * @param rows - the rows of its groups; groups that the evaluation finds are added
 * @returns the error, such as that of an update of a missing entity or of a group whose row is full, if the images refuse the commit
 */
export async function evaluate(
  database: DatabaseParts,
  attempted: Attempted,
  rows: Map<GroupCode, GroupRow>,
  children: Children,
): Promise<Evaluation | { readonly error: unknown }> {
  const { input, commit } = attempted
  const { stamp: version } = commit
  const evaluated: RowKey[] = []
  try {
    const reader = readerOf(database, input, rows, children, evaluated)
    const { states, outcomes, failure } = await evaluateMutations(input.mutations, input.rules, reader, version)
    const isKnown = rows.size === commit.groups.length
    const made = states.length === 0 || !isKnown ? noRecords : await recordsOfCommit(database, attempted, rows, states)
    const { records, indexUpdates } = made
    return { records, committed: { version, outcomes, failure, indexUpdates }, evaluated }
  } catch (error) {
    return { error }
  }
}

const noRecords = { records: [], indexUpdates: 0 }

async function recordsOfCommit(
  { store, clock }: DatabaseParts,
  { input: { context, transaction }, commit, epoch }: Attempted,
  rows: ReadonlyMap<GroupCode, GroupRow>,
  states: readonly EntityDelta[],
): Promise<{ readonly records: readonly GroupRecord[]; readonly indexUpdates: number }> {
  const head: LogRecordHead = { transaction, groups: commit.groups, commit: commit.id, epoch }
  const made = await recordsOf(context, states, store.rulesOf(clock.database, epoch), head)
  const records = made.map(({ group, changes, value }): GroupRecord => {
    for (const change of changes) checkRowKeys(change)
    const record = { group, stamp: commit.stamp, value, record: { ...headIn(group, head), changes } }
    refuseFull(store, rows.get(group) as GroupRow, record)
    return record
  })
  return { records, indexUpdates: indexUpdatesOf(made) }
}

/** Reads the newest committed image of an entity, from its row or from the log. */
function readerOf(
  { store, clock }: DatabaseParts,
  { context }: Pick<CommitInput, 'context'>,
  rows: Map<GroupCode, GroupRow>,
  children: Children,
  evaluated: RowKey[],
): CommittedReader {
  return async ({ partition, path }, key) => {
    const group = groupOf(partition, path)
    let row = rows.get(group)
    if (row === undefined) {
      // An id was in use, and the next id belongs to another group: the commit starts again with that group.
      row = await readGroup(store, group, clock.low)
      rows.set(group, row)
    }
    evaluated.push(key)
    const inRecord = newestInLog(row, path)
    let stored = row.root
    if (key !== entityRowOf(group)) {
      // An id was in use, and the next one is of the same group.
      const read = children.has(key) ? undefined : await store.rows.readRows([key], newestCell)
      stored = read === undefined ? children.get(key) : read.get(key)?.cells.v?.[0]
    }
    const cell = inRecord !== undefined && inRecord.stamp > (stored?.at ?? -1n) ? inRecord.cell : valueInCell(stored)
    context.ledger.charge('Entities', 'get', key, 1, cell?.length ?? 0)
    return cell
  }
}
