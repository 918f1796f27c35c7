/**
 * Values of single rows in memory: those that `get` has read from LevelDB, in the newest acknowledged version.
 *
 * There are two maps. New and reused entries go to the young one. When it has half of the limit it becomes the old one, and
 * the rest of the old one is dropped. So ToDo:1 stays while it is read now and then; an entry that is read once is dropped
 * after two such changes.
 *
 * A write must replace its entry. Most written rows are index rows, which get() never reads: the cache remembers the key spaces
 * (tables) of its entries, and passes over rows of others.
 *
 * Measured: 0.1–0.3 µs a hit, where LevelDB's getSync takes 2. Absence is not cached: a commit asks once for each new entity.
 */
import type { RowKey } from './kv.ts'

/** Memory of an entry beside its bytes. Believed, from heap sizes. */
const overheadBytes = 200

export class ValueCache {
  readonly #bytesMax: number
  #young = new Map<RowKey, Uint8Array>()
  #old = new Map<RowKey, Uint8Array>()
  #youngBytes = 0
  /** By the first character of a key, its key space: 1 = rows of it were ever added. */
  readonly #spaces = new Uint8Array(256)

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The row's value from the cache, or from `read`, which reads the newest acknowledged version. */
  get(key: RowKey, read: (key: RowKey) => Uint8Array | undefined): Uint8Array | undefined {
    const known = this.#young.get(key)
    if (known !== undefined) return known
    const value = this.#old.get(key) ?? read(key)
    if (value !== undefined) this.#add(key, value)
    return value
  }

  wants(prefix: RowKey): boolean {
    return this.#spaces[prefix.charCodeAt(0)] === 1
  }

  /** Must be called with each acknowledged row that has a prefix that it wants. */
  write(key: RowKey, value: Uint8Array | undefined): void {
    if (this.#spaces[key.charCodeAt(0)] === 0) return
    if (!this.#young.has(key) && !this.#old.has(key)) return
    if (value !== undefined) this.#add(key, value)
    else {
      this.#young.delete(key)
      this.#old.delete(key)
    }
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
  }

  #add(key: RowKey, value: Uint8Array): void {
    this.#spaces[key.charCodeAt(0)] = 1
    // A written value is mostly a view of a larger buffer, all of which it would keep: 8 KiB for an entity of 300 bytes.
    this.#young.set(key, value.length * 2 < value.buffer.byteLength ? Buffer.from(new Uint8Array(value).buffer) : value)
    this.#youngBytes += overheadBytes + key.length + value.length
    if (this.#youngBytes * 2 <= this.#bytesMax) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}
