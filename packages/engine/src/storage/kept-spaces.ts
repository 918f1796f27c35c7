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
  /** By the first character of a key. */
  readonly #isKept = new Uint8Array(256)
  #count = 0

  /** The number of kept key spaces. */
  get count(): number {
    return this.#count
  }

  has(key: RowKey): boolean {
    return this.#isKept[spaceOf(key)] === 1
  }

  add(key: RowKey): void {
    const space = spaceOf(key)
    if (this.#isKept[space] === 1) return
    this.#isKept[space] = 1
    this.#count++
  }

  addRange({ start, end }: KeyRange): void {
    for (let space = spaceOf(start); String.fromCharCode(space) < end; space++) this.add(String.fromCharCode(space))
  }
}

/** The empty key, which only tests write, counts as one of the first key space. */
function spaceOf(key: RowKey): number {
  return key.length === 0 ? 0 : key.charCodeAt(0)
}
