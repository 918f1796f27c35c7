/**
 * Holds on applying: matching records wait between commit and apply, under any apply policy of their database.
 *
 * H1  A held record is applied by a strong read of its group, by a release, or when no hold catches it any more.
 * H2  The later records of its group wait behind a held record, since a group is applied in order (apply/A1).
 * H3  While a database has held records, its global queries are eventually consistent, as under a policy that delays.
 *                                                                                  all: apply-holds.test.ts
 *
 * Ours: for tests that delay one write, and not all of them.
 */
import { keyCodesOfPath, partitionOfCode, pathCode } from '../encoding/key-codec.ts'
import { encodeText } from '../encoding/ordered.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { PathElement } from '../model/key.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { Applier } from './apply.ts'
import type { ApplyPolicy } from './apply-policy.ts'
import type { PendingRecord, PendingRecords } from './pending.ts'

/** Which commits are held: those that write an entity for which all that is given holds. */
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
  /** Sees to a record's application as the policy of its database has it. */
  arm(record: PendingRecord): void
}

export class ApplyHolds {
  readonly #parts: ApplyHoldsParts
  readonly #holds = new Set<ActiveHold>()

  constructor(parts: ApplyHoldsParts) {
    this.#parts = parts
  }

  /**
   * Holds back what is committed from now on and matches.
   *
   * @param onCatch - told of each record that is held by it
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

  /** Whether there are holds. */
  get areAny(): boolean {
    return this.#holds.size > 0
  }

  /** Marks new records that are held (H2), and tells the holds. @returns whether any is */
  mark(records: readonly PendingRecord[]): boolean {
    if (this.#holds.size === 0) return false
    let isHeld = false
    for (const record of records) {
      const caught = [...this.#holds].filter((hold) => matches(hold, record))
      for (const { onCatch } of caught) onCatch()
      record.held = caught.length > 0 || this.#isBehindHeld(record)
      isHeld ||= record.held
    }
    return isHeld
  }

  /** Marks a record that a restored snapshot has waiting. */
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

  /** A hold has ended: the records of a group that none catches any more go their way. */
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
