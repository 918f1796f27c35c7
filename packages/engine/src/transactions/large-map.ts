/**
 * A map of row keys that may become very large. When a Map doubles, V8 moves all of its entries in one step: 433 ms for two million.
 * So the keys beyond the first ones go to 256 further maps, by their hash:
 *
 *   ToDo:1 to ToDo:16384   ─▶ the first map
 *   ToDo:16385             ─▶ hash of "ToDo:16385" ─▶ map 77
 *
 * A key stays in its map until it is deleted.
 */
import { fnvStart, fnvStep } from '../fnv.ts'
import type { RowKey } from '../storage/kv.ts'

const firstMaxDefault = 16_384
const lastMax = 16

export class LargeMap<V extends object> {
  readonly #firstMax: number
  readonly #first = new Map<RowKey, V>()
  /** Each is made for its first key. */
  #others: (Map<RowKey, V> | undefined)[] = []
  #inOthers = 0

  constructor(firstMax: number = firstMaxDefault) {
    this.#firstMax = firstMax
  }

  get size(): number {
    return this.#first.size + this.#inOthers
  }

  get(key: RowKey): V | undefined {
    const value = this.#first.get(key)
    return value !== undefined || this.#inOthers === 0 ? value : this.#others[placeOf(key)]?.get(key)
  }

  set(key: RowKey, value: V): void {
    const isSmall = this.#inOthers === 0 && this.#first.size < this.#firstMax
    if (isSmall || this.#first.has(key)) {
      this.#first.set(key, value)
      return
    }
    const place = placeOf(key)
    const other = this.#others[place] ?? new Map<RowKey, V>()
    this.#others[place] = other
    const before = other.size
    other.set(key, value)
    this.#inOthers += other.size - before
  }

  delete(key: RowKey): void {
    if (this.#first.delete(key) || this.#inOthers === 0) return
    if (this.#others[placeOf(key)]?.delete(key) !== true) return
    if (--this.#inOthers === 0) this.#others = []
  }
}

/** Looks at 64 characters at most, all over the key, and at its last ones, where keys mostly differ. */
function placeOf(key: RowKey): number {
  const step = 1 + (key.length >> 6)
  let hash = fnvStart
  for (let i = 0; i < key.length; i += step) hash = fnvStep(hash, key.charCodeAt(i))
  for (let i = Math.max(0, key.length - lastMax); i < key.length; i++) hash = fnvStep(hash, key.charCodeAt(i))
  return (hash ^ (hash >>> 16)) & 0xff
}
