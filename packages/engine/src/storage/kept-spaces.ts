/**
 * The key spaces (tables) of a LevelDB store whose written rows are used again when LevelDB has them: by a cache, which must replace
 * its copy, or by a conditional write. Rows of other key spaces are garbage as soon as LevelDB has taken their bytes.
 *
 * After a scan of EntitiesByKind, a put of ToDo:1 keeps its row there, and drops its rows in EntitiesByPropertyAsc.
 *
 * A key space is kept for good. A write that was submitted when `count` was smaller may lack rows, so the caches are emptied when it is
 * acknowledged, and a conditional write waits for it.
 */
import type { KeyRange, RowKey } from './kv.ts'

export class KeptSpaces {
  /** By the first character of a key; the empty key counts as one of space 0. */
  readonly #isKept = new Uint8Array(256)
  /** The number of kept key spaces; read only. */
  count = 0

  has(key: RowKey): boolean {
    return this.#isKept[key.charCodeAt(0) || 0] === 1
  }

  add(key: RowKey): void {
    if (this.has(key)) return
    this.#isKept[key.charCodeAt(0) || 0] = 1
    this.count++
  }

  addRange({ start, end }: KeyRange): void {
    for (let space = start.charCodeAt(0) || 0; String.fromCharCode(space) < end; space++) {
      this.add(String.fromCharCode(space))
    }
  }
}
