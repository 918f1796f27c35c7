/**
 * The tombstones of one tablet: rows that were deleted and that scans must still step over.
 *
 * TS1  A row has at most one; putting the row again takes it away.
 * TS2  Weights add up to the deleted rows. Above a bound neighbours are joined, so that memory stays small: where they lie is
 *      then known less exactly, how many they are is not.
 *
 * Known: a delete writes a tombstone; only a major compaction drops it. Ours: that a later put takes it away at once.
 */
import { lowerBound } from '../../lower-bound.ts'
import type { RowKey } from '../../storage/kv.ts'

const entriesMax = 4_096

export class Tombstones {
  #keys: RowKey[] = []
  #weights: number[] = []
  #count = 0
  /** When the oldest one came, milliseconds; 0 = there is none. */
  oldestMs = 0

  get count(): number {
    return this.#count
  }

  add(rowKey: RowKey, weight: number, nowMs: number): void {
    const i = this.#indexOf(rowKey)
    if (this.#keys[i] === rowKey) return
    this.#keys.splice(i, 0, rowKey)
    this.#weights.splice(i, 0, weight)
    if (this.#count === 0) this.oldestMs = nowMs
    this.#count += weight
    if (this.#keys.length > entriesMax) this.#join()
  }

  /** The row is there again. */
  drop(rowKey: RowKey): void {
    if (this.#count === 0) return
    const i = this.#indexOf(rowKey)
    if (this.#keys[i] !== rowKey) return
    this.#count -= this.#weights[i] as number
    this.#keys.splice(i, 1)
    this.#weights.splice(i, 1)
    if (this.#keys.length === 0) this.clear()
  }

  /** How many lie in a range, its end included. */
  between(from: RowKey, through: RowKey): number {
    if (this.#count === 0) return 0
    let sum = 0
    for (let i = this.#indexOf(from); i < this.#keys.length; i++) {
      if ((this.#keys[i] as RowKey) > through) break
      sum += this.#weights[i] as number
    }
    return sum
  }

  /** @returns how many were dropped */
  clear(): number {
    const dropped = this.#count
    this.#keys = []
    this.#weights = []
    this.#count = 0
    this.oldestMs = 0
    return dropped
  }

  /** Takes those from a row key on out, into a list of their own: of a split. */
  cut(at: RowKey): Tombstones {
    const i = this.#indexOf(at)
    const right = new Tombstones()
    right.#keys = this.#keys.splice(i)
    right.#weights = this.#weights.splice(i)
    right.#count = right.#weights.reduce((sum, weight) => sum + weight, 0)
    right.oldestMs = right.#keys.length === 0 ? 0 : this.oldestMs
    this.#count = this.#weights.reduce((sum, weight) => sum + weight, 0)
    if (this.#keys.length === 0) this.clear()
    return right
  }

  /** Takes those of the right neighbour over. */
  append(right: Tombstones): void {
    this.#keys.push(...right.#keys)
    this.#weights.push(...right.#weights)
    if (right.#count > 0) this.oldestMs = this.#count > 0 ? Math.min(this.oldestMs, right.oldestMs) : right.oldestMs
    this.#count += right.#count
    while (this.#keys.length > entriesMax) this.#join()
  }

  #join(): void {
    const [keys, weights]: [RowKey[], number[]] = [[], []]
    for (let i = 0; i < this.#keys.length; i += 2) {
      keys.push(this.#keys[i] as RowKey)
      weights.push((this.#weights[i] as number) + (this.#weights[i + 1] ?? 0))
    }
    this.#keys = keys
    this.#weights = weights
  }

  /** The first place whose key is not below `rowKey`. */
  #indexOf(rowKey: RowKey): number {
    return lowerBound(this.#keys.length, (place) => (this.#keys[place] as RowKey) < rowKey)
  }
}
