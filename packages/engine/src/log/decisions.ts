/**
 * Decision rows of commits over several groups, on a store without batch.
 *
 *   M "decision" uint64(commitVersion)   → one byte: 1 committed, 0 aborted
 *
 * D1  The first to write the row decides; the row never changes after.       conditional write
 * D2  A row stays while a record that it decided waits to be applied.
 *
 * Known: two-phase commit with the decision in one row. Ours: the layout.
 */

import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { Kv, KvScan, RowKey } from '../storage/kv.ts'
import { metadataRowKey } from '../tables/metadata-rows.ts'

const committedByte = Uint8Array.of(1)
const abortedByte = Uint8Array.of(0)

function decisionRowKey(version: bigint): RowKey {
  // Decimal text: decisions are few and short-lived, and a person reads the row.
  return metadataRowKey({ projectId: '', databaseId: '', topic: 'decision', parts: [version.toString()] })
}

export class Decisions {
  readonly #kv: Kv
  /** Groups of a decided commit that are not applied yet, by version. */
  readonly #waiting = new Map<bigint, number>()

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /** Decides for commit. False: abort was decided before. */
  commit(version: bigint, groups: number): MaybePromise<boolean> {
    return andThen(this.#kv.mutateIf({ key: decisionRowKey(version), value: committedByte }, undefined), (won) => {
      if (won) this.#waiting.set(version, groups)
      return won
    })
  }

  /** The decision for a prepared record found on opening; without one, abort is decided. */
  outcome(version: bigint): MaybePromise<'committed' | 'aborted'> {
    const row = decisionRowKey(version)
    return andThen(this.#kv.get(row), (decision) => {
      if (decision !== undefined) return decision[0] === 1 ? 'committed' : 'aborted'
      return andThen(this.#kv.mutateIf({ key: row, value: abortedByte }, undefined), (won) =>
        won ? 'aborted' : this.outcome(version),
      )
    })
  }

  /** Groups that wait for the decision of an earlier run, by version. */
  adopt(waiting: ReadonlyMap<bigint, number>): void {
    for (const [version, groups] of waiting) this.#waiting.set(version, groups)
  }

  /** One group of the commit is wholly applied; with the last one the row goes (D2). */
  applied(version: bigint): MaybePromise<void> {
    if (this.#waiting.size === 0) return
    const groups = this.#waiting.get(version)
    if (groups === undefined) return
    if (groups > 1) {
      this.#waiting.set(version, groups - 1)
      return
    }
    this.#waiting.delete(version)
    return this.#kv.mutate({ key: decisionRowKey(version), value: undefined })
  }

  /** Removes rows of decisions that no record waits for any more: an aborted commit's, or one cut short at its end. */
  async sweep(): Promise<void> {
    const prefix = metadataRowKey({ projectId: '', databaseId: '', topic: 'decision' })
    const kept = new Set([...this.#waiting.keys()].map(decisionRowKey))
    const scan: KvScan = this.#kv.scan({ start: prefix, end: `${prefix}\xff` })
    try {
      for (;;) {
        const rows = await scan.next(100)
        if (rows.length === 0) return
        for (const { key } of rows) if (!kept.has(key)) await this.#kv.mutate({ key, value: undefined })
      }
    } finally {
      scan.close()
    }
  }
}
