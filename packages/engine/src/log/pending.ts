/**
 * The pending records: committed, but not wholly applied; by entity group, and in version order within a group. A record is
 * here exactly while its pending marker is in the store.
 */
import { getOrInsert } from '../get-or-insert.ts'
import { invariant } from '../invariant.ts'
import { lowerBound } from '../lower-bound.ts'
import type { RequestLoad } from '../meter.ts'
import type { RowKey } from '../storage/kv.ts'
import type { EntityRows } from '../tables/entity-rows.ts'
import type { GroupCode, LogPosition } from '../tables/log-rows.ts'
import type { EntityChange } from './log-record.ts'

/** The progress of a record: `committed`, then `A` (entity rows written). It is removed when its index rows are written. */
export type Milestone = 'committed' | 'A'

export interface PendingRecord extends LogPosition {
  readonly logRow: RowKey
  readonly logBytes: number
  /** The changes of entities, with their rows. Creating or dropping an index replaces them. */
  changes: readonly EntityRows[]
  /** The load of the commit if its weight is not 1; applying has the same weight. */
  readonly load?: RequestLoad | undefined
  /** The commit was not counted, and its application is not either. */
  readonly isUncounted?: boolean | undefined
  milestone: Milestone
  /** Whether a hold keeps it, or an earlier record of its group, from being applied (apply-holds.ts). */
  held?: boolean
}

export class WaitingGroup {
  /** A number that rises with each group that begins to wait, also when it waits again. */
  readonly number: number
  readonly #records: PendingRecord[] = []
  /** The number of applied records still in the list. They are removed many at a time, since a removal moves all others. */
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
  #groupsEver = 0
  /** Records in all groups. Usually 0, and then reads need no further look. */
  count = 0

  add(record: PendingRecord): void {
    let waiting = this.#groups.get(record.group)
    if (waiting === undefined) {
      waiting = new WaitingGroup(++this.#groupsEver)
      this.#groups.set(record.group, waiting)
      getOrInsert(this.#databases, record.database, () => new Set()).add(record.group)
    }
    const { newest } = waiting
    invariant(newest === undefined || newest.version < record.version, 'pending records come in version order')
    waiting.add(record)
    this.count++
  }

  /** Removes the oldest record of its group, which is wholly applied. */
  remove(record: PendingRecord): void {
    const waiting = this.#groups.get(record.group)
    invariant(waiting?.oldest === record, 'the oldest record of a group is applied first')
    waiting.removeOldest()
    this.count--
    if (waiting.count > 0) return
    this.#groups.delete(record.group)
    const groups = this.#databases.get(record.database)
    groups?.delete(record.group)
    if (groups?.size === 0) this.#databases.delete(record.database)
  }

  of(group: GroupCode): readonly PendingRecord[] {
    return this.#groups.get(group)?.records ?? []
  }

  oldest(group: GroupCode): PendingRecord | undefined {
    return this.#groups.get(group)?.oldest
  }

  newest(group: GroupCode): PendingRecord | undefined {
    return this.#groups.get(group)?.newest
  }

  countOf(group: GroupCode): number {
    return this.#groups.get(group)?.count ?? 0
  }

  find(group: GroupCode, version: bigint): PendingRecord | undefined {
    const oldest = this.oldest(group)
    if (oldest === undefined || version < oldest.version) return undefined
    const records = this.of(group)
    return records[lowerBound(records.length, (i) => (records[i] as PendingRecord).version < version)]
  }

  /** All groups with records, in the order in which they began to wait. */
  groups(): IterableIterator<GroupCode> {
    return this.#groups.keys()
  }

  waiting(): IterableIterator<WaitingGroup> {
    return this.#groups.values()
  }

  /** Groups of a database with records, in the order in which they began to wait. */
  groupsOf(database: string): readonly GroupCode[] {
    return [...(this.#databases.get(database) ?? [])]
  }

  hasHeldIn(database: string): boolean {
    for (const group of this.#databases.get(database) ?? []) if (this.newest(group)?.held) return true
    return false
  }

  hasIn(database: string): boolean {
    return this.#databases.has(database)
  }

  /** In version order within a group. */
  inDatabase(database: string): readonly PendingRecord[] {
    // Loops: flatMap() takes several times as long for many lists of one record.
    const all: PendingRecord[] = []
    for (const group of this.#databases.get(database) ?? []) for (const record of this.of(group)) all.push(record)
    return all
  }

  all(): readonly PendingRecord[] {
    const all: PendingRecord[] = []
    for (const { records } of this.#groups.values()) for (const record of records) all.push(record)
    return all
  }

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
    this.count = 0
  }
}
