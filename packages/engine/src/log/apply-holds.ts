/**
 * Holds: records that match a hold stay committed but not applied, under any apply policy. For tests that delay one
 * write: with a hold on ToDo:1, a put of ToDo:1 waits, while a put of ToDo:2 is applied.
 *
 * H1  The later records of a group wait behind its held record, since a group is applied in order.
 *
 * A held record is applied by a strong read of its group, by a release, or when its last hold ends. While a database
 * has held records, its global queries are eventually consistent.
 */
import { keyCodesOfPath, partitionOfCode, pathCode } from '../encoding/key-codec.ts'
import { encodeText } from '../encoding/ordered.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { PathElement } from '../model/key.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { Applier } from './apply.ts'
import type { ApplyPolicy } from './apply-policy.ts'
import type { PendingRecord, PendingRecords } from './pending.ts'

/** A filter for commits: it matches a write of an entity that has all given fields. */
export interface ApplyHold {
  readonly projectId?: string | undefined
  /** Empty = the default database. */
  readonly databaseId?: string | undefined
  readonly namespaceId?: string | undefined
  readonly kind?: string | undefined
  /** The path of one entity. */
  readonly path?: readonly PathElement[] | undefined
}

type Caught = Pick<PendingRecord, 'partition' | 'changes'>

interface ActiveHold {
  readonly which: ApplyHold
  /** Code of the kind, and of the path; `undefined` = any. */
  readonly kind: string | undefined
  readonly path: string | undefined
  readonly onCatch: () => void
}

export interface ApplyHoldsParts {
  readonly pending: PendingRecords
  readonly applier: Applier
  policyOf(database: string): ApplyPolicy
  /** Schedules the application of a record by the policy of its database. */
  arm(record: PendingRecord): void
}

export class ApplyHolds {
  readonly #parts: ApplyHoldsParts
  readonly #holds = new Set<ActiveHold>()

  constructor(parts: ApplyHoldsParts) {
    this.#parts = parts
  }

  /**
   * Holds matching commits from now on.
   *
   * @param onCatch - called for each record that this hold catches
   * @returns ends the hold; a second call does nothing
   */
  add(which: ApplyHold, onCatch: () => void = () => {}): () => MaybePromise<void> {
    const hold: ActiveHold = {
      which,
      kind: which.kind === undefined ? undefined : encodeText(which.kind),
      path: which.path === undefined ? undefined : pathCode(which.path),
      onCatch,
    }
    this.#holds.add(hold)
    return () => {
      if (!this.#holds.delete(hold)) return
      return forEachInOrder([...this.#parts.pending.groups()], (group) => this.#letGo(group))
    }
  }

  get areAny(): boolean {
    return this.#holds.size > 0
  }

  /** Marks the new records that are held. @returns whether any is */
  mark(records: readonly PendingRecord[]): boolean {
    if (this.#holds.size === 0) return false
    for (const record of records) this.markAgain(record)
    return records.some(({ held }) => held)
  }

  /** Tells the holds that catch a record of a commit: calls their `onCatch`. */
  caught(records: readonly PendingRecord[]): void {
    for (const hold of this.#holds) {
      for (const record of records) if (matches(hold, record)) hold.onCatch()
    }
  }

  /** Marks a pending record of a restored snapshot. */
  markAgain(record: PendingRecord): void {
    record.held = this.#isBehindHeld(record) || this.#isCaught(record)
  }

  #isBehindHeld({ group }: PendingRecord): boolean {
    return this.#parts.pending.newest(group)?.held === true
  }

  #isCaught(record: Caught): boolean {
    for (const hold of this.#holds) if (matches(hold, record)) return true
    return false
  }

  /** Frees the records of a group that no other hold catches. */
  #letGo(group: GroupCode): MaybePromise<void> {
    const { pending, policyOf, arm } = this.#parts
    const held = pending.of(group).filter((record) => record.held)
    let isHeld = false
    for (const record of held) {
      isHeld ||= this.#isCaught(record)
      record.held = isHeld
    }
    const freed = held.filter((record) => !record.held)
    const [first] = freed
    if (first === undefined) return
    if (policyOf(first.database).type === 'immediate') return this.#apply(group)
    for (const record of freed) arm(record)
  }

  /** Applies a group up to its first held record. */
  #apply(group: GroupCode): MaybePromise<void> {
    const { pending, applier } = this.#parts
    const oldest = pending.oldest(group)
    if (oldest === undefined || oldest.held) return
    return andThen(applier.step(group, 'B', 'release'), () => this.#apply(group))
  }
}

function matches({ which, kind, path }: ActiveHold, { partition, changes }: Caught): boolean {
  const place = partitionOfCode(partition)
  if (which.projectId !== undefined && which.projectId !== place.projectId) return false
  if (which.databaseId !== undefined && which.databaseId !== place.databaseId) return false
  if (which.namespaceId !== undefined && which.namespaceId !== place.namespaceId) return false
  if (kind === undefined && path === undefined) return true
  return changes.some(
    (change) =>
      (path === undefined || path === change.path) &&
      (kind === undefined || kind === keyCodesOfPath(partition, change.path).kind),
  )
}
