/**
 * The store-wide stamp of commits: microseconds, strictly increasing, across restarts too. It is the version that clients
 * see, the commit time and the position in a group's log: one number.
 *
 *   M "commitVersion" → the ceiling: 8 bytes, big-endian
 *
 * V1  next() grows strictly.
 * V2  No stamp above the stored ceiling is used before a higher ceiling is stored (in the same batch, or before). A crash
 *     therefore skips at most the headroom, and never repeats a stamp.
 * V3  Reads run between the slices of a large commit's evaluation; none of them gets its version or a later one.
 *                                                                                      gateway/test/contract/large-commits.test.ts
 *
 * Ours. The headroom of a second means one more row a second under load, and stamps at most a second ahead after a crash.
 */
import type { Scheduler } from '../clock.ts'
import { byteString, bytesOf } from '../encoding/bytes.ts'
import { decodeUint64, encodeUint64 } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
import { metadataRowKey } from '../tables/metadata-rows.ts'

const headroomMicros = 1_000_000n
const ceilingRow: RowKey = metadataRowKey({ projectId: '', databaseId: '', topic: 'commitVersion' })

export class CommitVersions {
  readonly #scheduler: Scheduler
  #last: bigint
  /** The stamp of the commit that is being evaluated. */
  #open: bigint | undefined
  #ceiling: bigint

  private constructor(scheduler: Scheduler, last: bigint) {
    this.#scheduler = scheduler
    this.#last = last
    this.#ceiling = last
  }

  static open(kv: Kv, scheduler: Scheduler): MaybePromise<CommitVersions> {
    return andThen(kv.get(ceilingRow), (stored) => {
      const last = stored === undefined ? 0n : decodeUint64(byteString(stored), 0)
      return new CommitVersions(scheduler, last)
    })
  }

  /** The newest stamp given, 0 before the first. */
  get last(): bigint {
    return this.#last
  }

  /** The moment that a read made now sees: after every commit that was written, and before one that is being evaluated (V3). */
  readTime(): bigint {
    return this.#open === undefined ? this.newest() : this.#open - 1n
  }

  /** The newest stamp of a commit that is not being evaluated any more. */
  get written(): bigint {
    return this.#open === undefined ? this.#last : this.#open - 1n
  }

  /** The newest version; a later one is in the future. */
  newest(): bigint {
    const now = this.#scheduler.nowMicros()
    if (now > this.#last) return now
    return this.#last
  }

  /** The stamp of the one commit that is evaluated next, which ends with {@link settle}. */
  next(): bigint {
    const now = this.#scheduler.nowMicros()
    const version = now > this.#last ? now : this.#last + 1n
    invariant(version > this.#last, 'V1: a commitVersion is above all before it')
    this.#last = version
    this.#open = version
    return version
  }

  /** Called when the store has the commit, or when it has failed. */
  settle(): void {
    this.#open = undefined
  }

  /** A read at `time` was answered, which is not in the future: commits from now on come after it. */
  observe(time: bigint): void {
    if (time > this.#last) this.#last = time
  }

  /** The write that must ride with, or go before, the first use of `version`; `undefined` if it is below the ceiling. */
  ceilingFor(version: bigint): KvWrite | undefined {
    if (version <= this.#ceiling) return undefined
    this.#ceiling = version + headroomMicros
    return { key: ceilingRow, value: bytesOf(encodeUint64(this.#ceiling)) }
  }

  /** The stored ceiling was deleted with everything else: the next commit stores one again. Stamps go on rising. */
  forgetCeiling(): void {
    this.#ceiling = this.#last
  }

  /** The write of a clean close: the exact last stamp, so that the next opening skips nothing. */
  finalCeiling(): KvWrite {
    return { key: ceilingRow, value: bytesOf(encodeUint64(this.#last)) }
  }
}
