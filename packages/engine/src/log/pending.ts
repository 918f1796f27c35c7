/**
 * The records that are committed but not wholly applied, by entity group: the memory side of the pending markers.
 *
 * P1  A group's records are kept, and applied, in the order of their versions.
 * P2  A record is here exactly while its marker stands in the store (memory follows the store).
 */
import { invariant } from '../invariant.ts'
import { lowerBound } from '../lower-bound.ts'
import type { RequestLoad } from '../meter.ts'
import type { RowKey } from '../storage/kv.ts'
import type { EntityRows } from '../tables/entity-rows.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { EntityChange } from './log-record.ts'

/** Where a record stands on its way: `committed`, then `A` (entity rows written), then gone (index rows written). */
export type Milestone = 'committed' | 'A'

export interface PendingRecord {
  readonly group: GroupCode
  /** Partition code of the group's entities. */
  readonly partition: string
  /** Code of the database that the group lives in. */
  readonly database: string
  readonly version: bigint
  readonly logRow: RowKey
  readonly logBytes: number
  /** Its changes of entities, and their rows. Indexes that come or go meanwhile change these. */
  changes: readonly EntityRows[]
  /** The load of its commit, where the weight is not 1: applying it weighs the same. */
  readonly load?: RequestLoad | undefined
  /** Its commit was uncounted: so is its application. */
  readonly isUncounted?: boolean | undefined
  milestone: Milestone
  /** A hold keeps it, or one before it in its group, from being applied (apply-holds.ts). */
  held?: boolean
}

/** The records of a group that wait. */
export class WaitingGroup {
  /** Numbers the groups in the order in which they began to wait. One that begins to wait again has another. */
  readonly number: number
  readonly #records: PendingRecord[] = []
  /** How many of them are applied: they go in large pieces, as each move of the others takes as long as there are. */
  #applied = 0

  constructor(number: number) {
    this.number = number
  }

  get count(): number {
    return this.#records.length - this.#applied
  }

  get oldest(): PendingRecord | undefined {
    return this.#records[this.#applied]
  }

  get newest(): PendingRecord | undefined {
    return this.#records.at(-1)
  }

  get records(): readonly PendingRecord[] {
    this.#forgetApplied()
    return this.#records
  }

  add(record: PendingRecord): void {
    this.#records.push(record)
  }

  removeOldest(): void {
    this.#applied++
    if (this.#applied * 2 > this.#records.length) this.#forgetApplied()
  }

  #forgetApplied(): void {
    if (this.#applied > 0) this.#records.splice(0, this.#applied)
    this.#applied = 0
  }
}

export class PendingRecords {
  readonly #groups = new Map<GroupCode, WaitingGroup>()
  readonly #databases = new Map<string, Set<GroupCode>>()
  #count = 0
  #groupsEver = 0

  /** Records in all groups; 0 is the common case, and then no read has to look further. */
  get count(): number {
    return this.#count
  }

  add(record: PendingRecord): void {
    let waiting = this.#groups.get(record.group)
    if (waiting === undefined) {
      waiting = new WaitingGroup(++this.#groupsEver)
      this.#groups.set(record.group, waiting)
      let groups = this.#databases.get(record.database)
      if (groups === undefined) {
        groups = new Set()
        this.#databases.set(record.database, groups)
      }
      groups.add(record.group)
    }
    const { newest } = waiting
    invariant(newest === undefined || newest.version < record.version, 'P1: pending records come in version order')
    waiting.add(record)
    this.#count++
  }

  /** The oldest record of its group is wholly applied. */
  remove(record: PendingRecord): void {
    const waiting = this.#groups.get(record.group)
    invariant(waiting?.oldest === record, 'P1: the oldest record of a group is applied first')
    waiting.removeOldest()
    this.#count--
    if (waiting.count > 0) return
    this.#groups.delete(record.group)
    const groups = this.#databases.get(record.database)
    groups?.delete(record.group)
    if (groups?.size === 0) this.#databases.delete(record.database)
  }

  of(group: GroupCode): readonly PendingRecord[] {
    return this.#groups.get(group)?.records ?? []
  }

  /** The one of a group to be applied next. */
  oldest(group: GroupCode): PendingRecord | undefined {
    return this.#groups.get(group)?.oldest
  }

  newest(group: GroupCode): PendingRecord | undefined {
    return this.#groups.get(group)?.newest
  }

  countOf(group: GroupCode): number {
    return this.#groups.get(group)?.count ?? 0
  }

  /** The record of a commit in a group, while it waits. */
  find(group: GroupCode, version: bigint): PendingRecord | undefined {
    const oldest = this.oldest(group)
    if (oldest === undefined || version < oldest.version) return undefined
    const records = this.of(group)
    return records[lowerBound(records.length, (i) => (records[i] as PendingRecord).version < version)]
  }

  /** All groups that have records, in the order in which they began to wait. */
  groups(): IterableIterator<GroupCode> {
    return this.#groups.keys()
  }

  /** The records of these groups. */
  waiting(): IterableIterator<WaitingGroup> {
    return this.#groups.values()
  }

  /** Groups of a database that have records, in the order in which they began to wait. */
  groupsOf(database: string): readonly GroupCode[] {
    return [...(this.#databases.get(database) ?? [])]
  }

  /** Whether a hold keeps something back in a database. */
  hasHeldIn(database: string): boolean {
    for (const group of this.#databases.get(database) ?? []) if (this.newest(group)?.held) return true
    return false
  }

  hasIn(database: string): boolean {
    return this.#databases.has(database)
  }

  /** Records of a database: those of a group in their order. */
  inDatabase(database: string): readonly PendingRecord[] {
    return this.groupsOf(database).flatMap((group) => this.of(group))
  }

  all(): readonly PendingRecord[] {
    return [...this.#groups.values()].flatMap(({ records }) => records)
  }

  /**
   * The newest committed image of an entity among the records, and whether there is one at all.
   *
   * @returns the change that made it; `undefined` when no record touches the entity
   */
  newestChange(group: GroupCode, path: string): EntityChange | undefined {
    const records = this.of(group)
    for (let i = records.length - 1; i >= 0; i--) {
      const change = records[i]?.changes.find((candidate) => candidate.path === path)
      if (change !== undefined) return change
    }
    return undefined
  }

  clear(): void {
    this.#groups.clear()
    this.#databases.clear()
    this.#count = 0
  }
}
