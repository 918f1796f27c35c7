/**
 * What a commit is about to append: one record for each entity group, with the rows that applying it writes, computed from
 * the images before and after. Nothing is read or written here.
 */
import { rootPath } from '../encoding/key-codec.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { forEachInSlices } from '../slices.ts'
import type { KeptIndexes, Kv, RowKey } from '../storage/kv.ts'
import { type FreshEntity, FreshRows, freshRowAt } from '../tables/fresh-rows.ts'
import type { TableWrite } from '../tables/table.ts'
import type { RequestLoad } from '../tablets/meter.ts'
import type { CommitInput, Footprint } from './commit-input.ts'
import {
  addIndexDelta,
  appendOtherRows,
  checkCompositeRows,
  type EntityStates,
  freshEntityOf,
  type IndexRules,
} from './index-delta.ts'
import { applyLoad } from './log-charges.ts'
import { DeferredLogRecord, type EntityChange, type LogRecordHead } from './log-record.ts'
import { type GroupCode, groupOf, logRowKey } from './log-rows.ts'
import type { Milestone, PendingRecord } from './pending.ts'

/**
 * Which of its property rows a commit lists: those that the store keeps; absent = all; `made` = all but those of entities
 * that are new, which the store makes while it writes them.
 */
type ListedRows = KeptIndexes | 'made' | undefined

const noGroups: readonly GroupCode[] = []
const none: readonly EntityChange[] = []

/** Of a commit that changes nothing. */
export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

/**
 * The records of a commit, for a store; many of them give way to other calls. All of them are written in one batch, so that they
 * are decided from their birth on; on a store without batch they come in the order of their groups.
 */
export function prepareRecords<T>(
  input: CommitInput<T>,
  states: readonly EntityStates[],
  version: bigint,
  kv: Kv,
): MaybePromise<readonly PreparedRecord[]> {
  const listed = listedRows(kv)
  // A query may have begun an index meanwhile, whose rows are to be listed too.
  return andThen(recordsOf(input, states, version, kv.supports.batch, listed), (records) =>
    listedRows(kv) === listed ? records : prepareRecords(input, states, version, kv),
  )
}

function listedRows(kv: Kv): ListedRows {
  return kv.batchWith === undefined ? kv.keptIndexes?.() : 'made'
}

function recordsOf<T>(
  input: CommitInput<T>,
  states: readonly EntityStates[],
  version: bigint,
  isFused: boolean,
  listed: ListedRows,
): MaybePromise<readonly PreparedRecord[]> {
  const { context, transaction } = input
  const records: PreparedRecord[] = []
  // Roots are mostly alone in their groups: then nothing need be brought together.
  if (isFused && states.every(isRoot)) {
    const head: LogRecordHead = { state: 'committed', transaction, groups: noGroups }
    const each = forEachInSlices(context, states, workOfState, (state) => {
      records.push(new PreparedRecord(input, head, groupOfState(state), state, [], version, listed))
    })
    return andThen(each, () => records)
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
  const workOf = ([, { first, others }]: (typeof groups)[number]): number =>
    others.reduce((sum, state) => sum + workOfState(state), workOfState(first))
  const each = forEachInSlices(context, groups, workOf, ([group, { first, others }]) => {
    records.push(new PreparedRecord(input, head, group, first, others, version, listed))
  })
  return andThen(each, () => records)
}

/** As much as rows that are read: a few for an entity, and more for what it has. */
const workOfOne = 32
const bytesOfWork = 128

function workOfState({ before, after }: EntityStates): number {
  return workOfOne + ((before?.length ?? 0) + (after?.length ?? 0)) / bytesOfWork
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
  /** Those of its entities whose rows the store makes itself. */
  readonly fresh: readonly FreshEntity[] | undefined
  /** Of the other index writes those that the store keeps. */
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
    listed: ListedRows,
  ) {
    const { codes, before, after } = first
    const states = others.length === 0 ? [first] : [first, ...others]
    const entityWrites = states.map(({ row, after }): TableWrite => ({ table: 'Entities', key: row, value: after }))
    const keptWrites: TableWrite[] = []
    let fresh: FreshEntity[] | undefined
    const kept = listed === 'made' ? undefined : listed
    let indexUpdates = 0
    let indexRows = 0
    let replaced: Set<RowKey> | undefined
    const onReplaced = (row: RowKey): void => {
      replaced ??= new Set()
      replaced.add(row)
    }
    for (const state of states) {
      if (database.indexes.length > 0) checkCompositeRows(state, database)
      const own = listed === 'made' ? freshEntityOf(state, database) : undefined
      if (own !== undefined) {
        if (fresh === undefined) fresh = [own]
        else fresh.push(own)
        const rows = appendOtherRows(keptWrites, own, database)
        indexRows += rows
        indexUpdates += rows
        continue
      }
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
    this.fresh = fresh
    this.keptWrites = keptWrites
    this.#states = states
    this.#rules = { indexes: database.indexes, indexOptions: database.indexOptions }
    this.#indexWrites = kept === undefined && fresh === undefined ? keptWrites : undefined
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

  indexWriteAt(place: number): TableWrite | undefined {
    const [state] = this.#states
    if (this.#indexWrites !== undefined || state === undefined || this.#states.length > 1) return undefined
    const entity = freshEntityOf(state, this.#rules)
    return entity === undefined ? undefined : freshRowAt(entity, place)
  }

  /** The same as a record that waits to be applied. */
  waiting(): PendingRecord {
    const { group, partition, database, version, logRow, logBytes, changes, entityWrites, indexWrites } = this
    const { replaced, load, milestone, held } = this
    const place = { group, partition, database, version, logRow, logBytes }
    return { ...place, changes, entityWrites, indexWrites, replaced, load, milestone, held }
  }
}

/** The rows that the store makes itself, of all records. */
export function freshRowsOf(records: readonly PreparedRecord[]): FreshRows | undefined {
  let rows: FreshRows | undefined
  for (const { fresh } of records) {
    if (fresh === undefined) continue
    rows ??= new FreshRows()
    for (const entity of fresh) rows.add(entity)
  }
  return rows
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
