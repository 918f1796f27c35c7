/**
 * What a commit is about to append: one record for each entity group, with the rows that applying it writes, computed from
 * the images before and after. Nothing is read or written here.
 */
import { rootPath } from '../encoding/key-codec.ts'
import type { DeferredValue, KeptIndexes, RowKey } from '../storage/kv.ts'
import type { TableWrite } from '../tables/table.ts'
import type { RequestLoad } from '../tablets/meter.ts'
import type { CommitInput, Footprint } from './commit-input.ts'
import { addIndexDelta, checkCompositeRows, type EntityStates, type IndexRules } from './index-delta.ts'
import { applyLoad } from './log-charges.ts'
import { DeferredLogRecord, type EntityChange } from './log-record.ts'
import { type GroupCode, groupOf, logRowKey } from './log-rows.ts'
import type { Milestone, PendingRecord } from './pending.ts'

const noGroups: readonly GroupCode[] = []

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
  // Roots are mostly alone in their groups: then nothing need be brought together.
  if (isFused && states.every(isRoot)) {
    return states.map((state) => new PreparedRecord(input, groupOfState(state), [state], version, undefined, kept))
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
  return groups.map((group) => new PreparedRecord(input, group, byGroup.get(group) ?? [], version, deciding, kept))
}

function isRoot({ codes: { path } }: EntityStates): boolean {
  return rootPath(path) === path
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
  readonly changes: readonly EntityChange[]
  readonly entityWrites: readonly TableWrite[]
  readonly replaced: ReadonlySet<RowKey> | undefined
  readonly load: RequestLoad | undefined
  readonly milestone: Milestone = 'committed'
  held = false
  /** The log record. */
  readonly value: DeferredValue
  readonly indexUpdates: number
  /** How many {@link indexWrites} there are. */
  readonly indexRows: number
  /** Of the index writes those that the store keeps. */
  readonly keptWrites: readonly TableWrite[]
  readonly #states: readonly EntityStates[]
  readonly #rules: IndexRules
  /** Made when somebody asks, where the store does not keep all: a third of what a commit of new entities took. */
  #indexWrites: readonly TableWrite[] | undefined

  /** @param deciding - the groups of a commit whose records a decision row makes whole */
  constructor(
    { context, database, transaction }: Pick<CommitInput<unknown>, 'context' | 'database' | 'transaction'>,
    group: GroupCode,
    states: readonly EntityStates[],
    version: bigint,
    deciding: readonly GroupCode[] | undefined,
    kept: KeptIndexes | undefined,
  ) {
    // Mapped, not pushed: a list that grows from nothing takes room for 17, and the changes are kept with the log.
    const changes = states.map(({ codes, before, after }): EntityChange => ({ path: codes.path, before, after }))
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
    this.partition = states[0]?.codes.partition ?? ''
    this.database = database.code
    this.version = version
    this.value = new DeferredLogRecord(
      deciding === undefined
        ? { state: 'committed', transaction, groups: noGroups, changes }
        : { state: 'prepared', transaction, groups: deciding, changes },
    )
    this.logRow = logRowKey(group, version)
    this.logBytes = this.logRow.length + this.value.length
    this.changes = changes
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
