/**
 * Holds: records that match a hold stay committed but not applied, under any apply policy. For tests that delay one
 * write: with a hold on ToDo:1, a put of ToDo:1 waits, while a put of ToDo:2 is applied.
 *
 * H1  The later records of a group wait behind its held record, since a group is applied in order.
 *
 * A held record is applied by a strong read of its group, by a release, or when its last hold ends. While a database
 * has held records, its global queries are eventually consistent.
 */

import type { Scheduler } from '../clock.ts'
import { type RequestContext, requestContext } from '../context.ts'
import { partitionOfCode, pathCode } from '../encoding/key-codec.ts'
import { encodeText } from '../encoding/ordered.ts'
import { isInScope, type PartitionScope, type PathElement } from '../model/key.ts'
import { forEachInSlices, giveWay } from '../slices.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { AppliedLog, Applier } from './apply.ts'
import type { LogDatabase } from './log-database.ts'
import type { PendingRecord } from './pending.ts'

/** A filter for commits: it matches a write of an entity that has all given fields. */
export interface ApplyHold extends PartitionScope {
  readonly kind?: string | undefined
  readonly path?: readonly PathElement[] | undefined
}

interface ActiveHold {
  readonly which: ApplyHold
  /** Code of the kind, and of the path; `undefined` = any. */
  readonly kind: string | undefined
  readonly path: string | undefined
  readonly onCatch: () => void
}

interface HeldLog extends Pick<AppliedLog, 'pending'> {
  readonly applier: Applier
}

interface HoldOptions {
  readonly scheduler: Scheduler
  readonly databaseByCode: (code: string) => LogDatabase
}

export class ApplyHolds {
  readonly #log: HeldLog
  readonly #options: HoldOptions
  readonly #holds = new Set<ActiveHold>()
  areAny = false

  constructor(log: HeldLog, options: HoldOptions) {
    this.#log = log
    this.#options = options
  }

  /** Holds matching commits from now on; the result ends the hold. @param onCatch - called for each caught record */
  add(which: ApplyHold, onCatch: () => void = () => {}): () => Promise<void> {
    const hold: ActiveHold = {
      which,
      kind: which.kind === undefined ? undefined : encodeText(which.kind),
      path: which.path === undefined ? undefined : pathCode(which.path),
      onCatch,
    }
    this.#holds.add(hold)
    this.areAny = true
    return async () => {
      if (!this.#holds.delete(hold)) return
      this.areAny = this.#holds.size > 0
      const context = requestContext({ clock: this.#options.scheduler })
      const groups = [...this.#log.pending.groups()]
      await forEachInSlices(context, groups, 1, (group) => this.#letGo(group, context))
    }
  }

  /** Marks the records that are held, before they are pending. @returns whether any is */
  mark(records: readonly PendingRecord[]): boolean {
    for (const record of records) {
      record.held = this.#log.pending.newest(record.group)?.held === true || this.#catching(record).length > 0
    }
    return records.some(({ held }) => held)
  }

  /** Tells the holds that catch a record of a commit: calls their `onCatch`. */
  caught(records: readonly PendingRecord[]): void {
    for (const record of records) for (const hold of this.#catching(record)) hold.onCatch()
  }

  #catching({ partition, changes }: PendingRecord): readonly ActiveHold[] {
    if (!this.areAny) return []
    const place = partitionOfCode(partition)
    return [...this.#holds].filter(({ which, kind, path }) => {
      if (!isInScope(place, which)) return false
      if (kind === undefined && path === undefined) return true
      return changes.some(
        ({ codes }) => (path === undefined || path === codes.path) && (kind === undefined || kind === codes.kind),
      )
    })
  }

  /** Frees a group's records, oldest first, up to one that another hold catches; a new one is the last (H1). */
  async #letGo(group: GroupCode, context: RequestContext): Promise<void> {
    const { pending, applier } = this.#log
    while (pending.newest(group)?.held) {
      for (const record of pending.of(group).filter(({ held }) => held)) {
        if (this.#catching(record).length > 0) return
        record.held = false
        const database = this.#options.databaseByCode(record.database)
        if (database.settings.applyPolicy.type === 'immediate') await applier.upTo(record, 'release', context)
        else applier.arm([record], database)
        await giveWay(context, 1)
      }
    }
  }
}
