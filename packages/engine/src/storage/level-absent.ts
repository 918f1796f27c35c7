/**
 * A filter of absent rows: it knows without LevelDB that a row does not exist. A put of the new ToDo:1 first reads ToDo:1, and
 * lacks(ToDo:1) answers that read. It knows the rows of one prefix, those of Entities: others are not read before they are written.
 *
 *   keys written since the store was opened ─┐
 *   keys that were there ── read once ───────┴─▶ filter: a key that is in neither is absent
 *
 * A commit reads each entity that it creates, and mostly finds nothing. For each such read LevelDB looks into a file of each level, and
 * after a hundred or more looks it merges that file into the next level: a sixth of all work in a commit of 100 new entities (decision
 * 0004). A store that is empty when it is opened knows all its keys; another one reads them after enough reads in vain.
 *
 * lacks(key) is true only if the newest acknowledged version has no such row: every key is added before LevelDB writes it, and
 * existing keys before the answer is ever true (test/property/level-kv-concurrent.test.ts).
 */
import { byteString } from '../encoding/bytes.ts'
import { type PlacedRange, storedRange } from './areas.ts'
import { KeyFilter } from './key-filter.ts'
import type { RowKey } from './kv.ts'
import { keysIn, type LevelDatabase } from './level-version.ts'

/** Enough for twenty-six million keys. */
const filterBytesMax = 32 << 20

/** To read the keys of 100,000 entities takes 0.3–0.6 s of CPU, a read in vain 8 µs: with fewer it would not pay. */
const missesBeforeReading = 16_384

/** A store, and where the rows of its newest acknowledged version lie. */
type AbsentSource = { readonly level: LevelDatabase; partsOf(): readonly PlacedRange[] }

export class AbsentRows {
  readonly #source: AbsentSource
  readonly #filter = new KeyFilter(filterBytesMax)
  readonly #prefix: string
  readonly #missesMax: number
  #misses = 0
  /** `complete`: the filter has every key. */
  #state: 'incomplete' | 'reading' | 'complete' | 'given up' = 'incomplete'
  /** Clears submitted so far, and those not acknowledged. */
  #clears = 0
  #clearing = 0

  /** @param prefix - of the keys that are read before they are written */
  constructor(source: AbsentSource, prefix: string, isEmpty: boolean, missesMax: number = missesBeforeReading) {
    this.#source = source
    this.#prefix = prefix
    this.#missesMax = missesMax
    if (isEmpty) this.#state = 'complete'
  }

  /** Whether there surely is no such row. */
  lacks(key: RowKey): boolean {
    return this.#state === 'complete' && key.startsWith(this.#prefix) && !this.#filter.mayHave(key)
  }

  missed(key: RowKey): void {
    if (this.#state !== 'incomplete' || this.#clearing > 0 || !key.startsWith(this.#prefix)) return
    if (++this.#misses < this.#missesMax) return
    this.#state = 'reading'
    this.#read().catch(() => {
      // The store is closed or damaged, which the read itself reports.
      if (this.#state === 'reading') this.#state = 'given up'
    })
  }

  /** Must be called for each row that is set, before LevelDB writes it. */
  note(key: RowKey): void {
    if (key.startsWith(this.#prefix)) this.#filter.add(key)
  }

  /** Must be called before a clear is submitted; `cleared` settles with the clear. */
  beginClear(cleared: Promise<void>): void {
    this.#clears++
    this.#clearing++
    this.#misses = 0
    this.#state = 'incomplete'
    this.#filter.clear()
    const ended = (): void => {
      this.#clearing--
    }
    cleared.then(ended, ended)
  }

  async #read(): Promise<void> {
    const clears = this.#clears
    for (const part of this.#source.partsOf()) {
      for await (const keys of keysIn(this.#source.level, storedRange(part))) {
        if (this.#clears !== clears) return
        for (const key of keys) this.#filter.add(byteString(key.subarray(part.prefix.length)))
      }
    }
    if (this.#clears === clears) this.#state = 'complete'
  }
}
