/**
 * The tombstones of one tablet: deleted rows that scans must still pass.
 *
 *   delete ToDo:5, ToDo:6, ToDo:7      three tombstones; a put of ToDo:6 removes its own
 *
 * A row has at most one. Above a bound neighbours are joined and their weights added: their places become less exact, their
 * number does not.
 *
 * Known: a delete writes a tombstone; only a major compaction removes it. Ours: a later put removes it at once.
 */
import { lowerBound } from '../../lower-bound.ts'
import type { RowKey } from '../../storage/kv.ts'

const entriesMax = 4_096

export class Tombstones {
  #keys: RowKey[] = []
  #weights: number[] = []
  #count = 0
  /** When the oldest one was written, milliseconds; 0 = there is none. */
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

  /** The row exists again. */
  drop(rowKey: RowKey): void {
    if (this.#count === 0) return
    const i = this.#indexOf(rowKey)
    if (this.#keys[i] !== rowKey) return
    this.#count -= this.#weights[i] as number
    this.#keys.splice(i, 1)
    this.#weights.splice(i, 1)
    if (this.#keys.length === 0) this.clear()
  }

  /** The number in a range, its end included. */
  between(from: RowKey, through: RowKey): number {
    if (this.#count === 0) return 0
    let sum = 0
    for (let i = this.#indexOf(from); i < this.#keys.length; i++) {
      if ((this.#keys[i] as RowKey) > through) break
      sum += this.#weights[i] as number
    }
    return sum
  }

  /** @returns the number removed */
  clear(): number {
    const dropped = this.#count
    this.#keys = []
    this.#weights = []
    this.#count = 0
    this.oldestMs = 0
    return dropped
  }

  /** Moves those from a row key on into a new list, for a split. */
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

  /** Adds those of the right neighbour. */
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
