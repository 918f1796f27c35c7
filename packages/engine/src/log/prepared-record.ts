/**
 * What a commit is about to append: one record for each entity group, with the rows that applying it writes, computed from
 * the images before and after. Nothing is read or written here.
 */
import { rootPath } from '../encoding/key-codec.ts'
import type { KeptIndexes, RowKey } from '../storage/kv.ts'
import type { TableWrite } from '../tables/table.ts'
import type { RequestLoad } from '../tablets/meter.ts'
import type { CommitInput, Footprint } from './commit-input.ts'
import { addIndexDelta, checkCompositeRows, type EntityStates, type IndexRules } from './index-delta.ts'
import { applyLoad } from './log-charges.ts'
import { DeferredLogRecord, type EntityChange, type LogRecordHead } from './log-record.ts'
import { type GroupCode, groupOf, logRowKey } from './log-rows.ts'
import type { Milestone, PendingRecord } from './pending.ts'

const noGroups: readonly GroupCode[] = []
const none: readonly EntityChange[] = []

/** Of a commit that changes nothing. */
export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

/**
 * The records of a commit; on a store without batch in the order of their groups.
 *
 * @param isFused - all of them are written in one batch, so that they are decided from their birth on
 * @param kept - of the property rows those that the store keeps; absent = all
 */
export function prepareRecords<T>(
  input: CommitInput<T>,
  states: readonly EntityStates[],
  version: bigint,
  isFused: boolean,
  kept: KeptIndexes | undefined,
): readonly PreparedRecord[] {
  const { transaction } = input
  // Roots are mostly alone in their groups: then nothing need be brought together.
  if (isFused && states.every(isRoot)) {
    const head: LogRecordHead = { state: 'committed', transaction, groups: noGroups }
    return states.map((state) => new PreparedRecord(input, head, groupOfState(state), state, [], version, kept))
  }
  const byGroup = new Map<GroupCode, { readonly first: EntityStates; readonly others: EntityStates[] }>()
  for (const state of states) {
    const group = groupOfState(state)
    const known = byGroup.get(group)
    if (known === undefined) byGroup.set(group, { first: state, others: [] })
    else known.others.push(state)
  }
  const groups = [...byGroup]
  if (!isFused) groups.sort(([a], [b]) => (a < b ? -1 : 1))
  // A decision row is needed by records of several groups alone.
  const head: LogRecordHead =
    isFused || groups.length === 1
      ? { state: 'committed', transaction, groups: noGroups }
      : { state: 'prepared', transaction, groups: groups.map(([group]) => group) }
  return groups.map(
    ([group, { first, others }]) => new PreparedRecord(input, head, group, first, others, version, kept),
  )
}

function isRoot({ codes: { path } }: EntityStates): boolean {
  return rootPath(path) === path
}

function changeOf({ codes, before, after }: EntityStates): EntityChange {
  return { path: codes.path, before, after }
}

function groupOfState({ codes: { partition, path } }: EntityStates): GroupCode {
  return groupOf(partition, path)
}

/** One record, about to be written. */
export class PreparedRecord implements PendingRecord {
  readonly group: GroupCode
  readonly partition: string
  readonly database: string
  readonly version: bigint
  readonly logRow: RowKey
  readonly logBytes: number
  readonly entityWrites: readonly TableWrite[]
  readonly replaced: ReadonlySet<RowKey> | undefined
  readonly load: RequestLoad | undefined
  readonly milestone: Milestone = 'committed'
  held = false
  /** The log record. */
  readonly value: DeferredLogRecord
  readonly indexUpdates: number
  /** How many {@link indexWrites} there are. */
  readonly indexRows: number
  /** Of the index writes those that the store keeps. */
  readonly keptWrites: readonly TableWrite[]
  readonly #states: readonly EntityStates[]
  readonly #rules: IndexRules
  /** Made when somebody asks, where the store does not keep all: a third of what a commit of new entities took. */
  #indexWrites: readonly TableWrite[] | undefined

  /**
   * @param head - the same object for all records of a commit
   * @param others - what the commit does to other entities of the group
   */
  constructor(
    { context, database }: Pick<CommitInput<unknown>, 'context' | 'database'>,
    head: LogRecordHead,
    group: GroupCode,
    first: EntityStates,
    others: readonly EntityStates[],
    version: bigint,
    kept: KeptIndexes | undefined,
  ) {
    const { codes, before, after } = first
    const states = others.length === 0 ? [first] : [first, ...others]
    const entityWrites = states.map(({ row, after }): TableWrite => ({ table: 'Entities', key: row, value: after }))
    const keptWrites: TableWrite[] = []
    let indexUpdates = 0
    let indexRows = 0
    let replaced: Set<RowKey> | undefined
    const onReplaced = (row: RowKey): void => {
      replaced ??= new Set()
      replaced.add(row)
    }
    for (const state of states) {
      if (database.indexes.length > 0) checkCompositeRows(state, database)
      const { rows, updates } = addIndexDelta(state, database, keptWrites, onReplaced, kept)
      indexRows += rows
      indexUpdates += updates
    }
    this.group = group
    this.partition = codes.partition
    this.database = database.code
    this.version = version
    this.value = new DeferredLogRecord(
      head,
      codes.path,
      before,
      after,
      others.length === 0 ? none : others.map(changeOf),
    )
    this.logRow = logRowKey(group, version)
    this.logBytes = this.logRow.length + this.value.length
    this.entityWrites = entityWrites
    this.replaced = replaced
    this.load = applyLoad(context)
    this.indexUpdates = indexUpdates
    this.indexRows = indexRows
    this.keptWrites = keptWrites
    this.#states = states
    this.#rules = { indexes: database.indexes, indexOptions: database.indexOptions }
    this.#indexWrites = kept === undefined ? keptWrites : undefined
  }

  get changes(): readonly EntityChange[] {
    return this.value.changes
  }

  get indexWrites(): readonly TableWrite[] {
    if (this.#indexWrites === undefined) {
      const writes: TableWrite[] = []
      for (const state of this.#states) addIndexDelta(state, this.#rules, writes)
      this.#indexWrites = writes
    }
    return this.#indexWrites
  }

  /** The same as a record that waits to be applied. */
  waiting(): PendingRecord {
    const { group, partition, database, version, logRow, logBytes, changes, entityWrites, indexWrites } = this
    const { replaced, load, milestone, held } = this
    const place = { group, partition, database, version, logRow, logBytes }
    return { ...place, changes, entityWrites, indexWrites, replaced, load, milestone, held }
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
