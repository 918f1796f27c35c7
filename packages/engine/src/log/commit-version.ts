/**
 * The version of commits: microseconds, strictly increasing over the whole store and over restarts. It is the version that
 * clients see, the commit time, and the position in a group's log, all in one number.
 *
 *   M "commitVersion" → the ceiling: 8 bytes, big-endian
 *   1795252843125000 is used, the ceiling is 1795252844125000: after a crash the next version is above the ceiling
 *
 * No version above the stored ceiling is used before a higher ceiling is stored, in the same batch or earlier. So a crash
 * skips at most the headroom, and no version repeats.
 *
 * V1  No read made now gets the version of a commit that it cannot see, or a later one. With 1000 on its way to the disk, reads are
 *     of 999; else a second read of 1000 would see what the first one did not. After a read of 1000, the next commit is 1001, also if
 *     the clock stands still.
 *
 * Ours. The headroom is one second: one more row a second under load, and versions at most one second ahead after a crash.
 */
import type { Scheduler } from '../clock.ts'
import { byteString, bytesOf } from '../encoding/bytes.ts'
import { decodeUint64, encodeUint64 } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
import { topicRowKey, wholeStore } from '../tables/metadata-rows.ts'

const headroomMicros = 1_000_000n
const ceilingRow: RowKey = topicRowKey(wholeStore, 'commitVersion')

export class CommitVersions {
  readonly #scheduler: Scheduler
  /** The newest version given, 0 before the first. */
  last: bigint
  /** Versions of commits that are evaluated or on their way to the store, oldest first. */
  #open: bigint[] = []
  #ceiling: bigint

  private constructor(scheduler: Scheduler, last: bigint) {
    this.#scheduler = scheduler
    this.last = last
    this.#ceiling = last
  }

  static open(kv: Kv, scheduler: Scheduler): MaybePromise<CommitVersions> {
    return andThen(kv.get(ceilingRow), (stored) => {
      const last = stored === undefined ? 0n : decodeUint64(byteString(stored), 0)
      return new CommitVersions(scheduler, last)
    })
  }

  /** The time of a read made now: after every written commit, before the first that is not, and before all later ones (V1). */
  readTime(): bigint {
    const [oldest] = this.#open
    if (oldest !== undefined) return oldest - 1n
    const now = this.#scheduler.nowMicros()
    if (now > this.last) this.last = now
    return this.last
  }

  /** The newest version; later ones are in the future. */
  newest(): bigint {
    const now = this.#scheduler.nowMicros()
    if (now > this.last) return now
    return this.last
  }

  /** The version of the next commit, which ends with {@link settle}. */
  next(): bigint {
    const now = this.#scheduler.nowMicros()
    const version = now > this.last ? now : this.last + 1n
    invariant(version > this.last, 'a commitVersion is above all before it')
    this.last = version
    this.#open.push(version)
    return version
  }

  /** Ends a commit: it is refused, or readers see it from now on. */
  settle(version: bigint): void {
    // A store answers in the order of its writes (kv/K7): mostly it is the oldest one.
    if (this.#open[0] === version) this.#open.shift()
    else this.#open = this.#open.filter((open) => open !== version)
  }

  /** Notes that a read at `time` (not in the future) was answered: later commits get a later version. */
  observe(time: bigint): void {
    if (time > this.last) this.last = time
  }

  /** The write that must come with, or before, the first use of `version`; `undefined` if it is below the ceiling. */
  ceilingFor(version: bigint): KvWrite | undefined {
    if (version <= this.#ceiling) return undefined
    this.#ceiling = version + headroomMicros
    return { key: ceilingRow, value: bytesOf(encodeUint64(this.#ceiling)) }
  }

  /** The stored ceiling was deleted with all rows: the next commit stores it again. Versions continue to rise. */
  forgetCeiling(): void {
    this.#ceiling = this.last
  }

  /** The write of a clean close: the exact last version, so that the next opening skips none. */
  finalCeiling(): KvWrite {
    return { key: ceilingRow, value: bytesOf(encodeUint64(this.last)) }
  }
}
