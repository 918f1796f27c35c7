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

interface Tombstone {
  readonly key: RowKey
  readonly weight: number
}

export class Tombstones {
  #all: Tombstone[] = []
  count = 0
  /** When the oldest one was written, milliseconds; 0 = there is none. */
  oldestMs = 0

  add(key: RowKey, weight: number, nowMs: number): void {
    const i = this.#indexOf(key)
    if (this.#all[i]?.key === key) return
    this.#all.splice(i, 0, { key, weight })
    if (this.count === 0) this.oldestMs = nowMs
    this.count += weight
    if (this.#all.length > entriesMax) this.#join()
  }

  /** The row exists again. */
  drop(key: RowKey): void {
    if (this.count === 0) return
    const i = this.#indexOf(key)
    const found = this.#all[i]
    if (found?.key !== key) return
    this.count -= found.weight
    this.#all.splice(i, 1)
    if (this.#all.length === 0) this.clear()
  }

  /** The number in a range, its end included. */
  between(from: RowKey, through: RowKey): number {
    if (this.count === 0) return 0
    let sum = 0
    for (let i = this.#indexOf(from); i < this.#all.length; i++) {
      const { key, weight } = this.#all[i] as Tombstone
      if (key > through) break
      sum += weight
    }
    return sum
  }

  clear(): number {
    const dropped = this.count
    this.#all = []
    this.count = 0
    this.oldestMs = 0
    return dropped
  }

  /** Moves those from a row key on into a new list, for a split. */
  cut(at: RowKey): Tombstones {
    const right = new Tombstones()
    right.#all = this.#all.splice(this.#indexOf(at))
    right.count = sumOf(right.#all)
    right.oldestMs = right.#all.length === 0 ? 0 : this.oldestMs
    this.count = sumOf(this.#all)
    if (this.#all.length === 0) this.clear()
    return right
  }

  append(right: Tombstones): void {
    this.#all.push(...right.#all)
    if (right.count > 0) this.oldestMs = this.count > 0 ? Math.min(this.oldestMs, right.oldestMs) : right.oldestMs
    this.count += right.count
    while (this.#all.length > entriesMax) this.#join()
  }

  #join(): void {
    const joined: Tombstone[] = []
    for (let i = 0; i < this.#all.length; i += 2) {
      const { key, weight } = this.#all[i] as Tombstone
      joined.push({ key, weight: weight + (this.#all[i + 1]?.weight ?? 0) })
    }
    this.#all = joined
  }

  #indexOf(key: RowKey): number {
    return lowerBound(this.#all.length, (place) => (this.#all[place] as Tombstone).key < key)
  }
}

function sumOf(tombstones: readonly Tombstone[]): number {
  return tombstones.reduce((sum, { weight }) => sum + weight, 0)
}
