/**
 * Rows that a LevelDB store cannot have, so that it need not be asked for them.
 *
 * Rows of some kind are read before they are written, and mostly are not there: a commit reads each entity that it is about to
 * make. Who opens the store says how their keys begin. LevelDB looks into a file of each of its levels for
 * that, and after a hundred or more of such looks at a file it merges that file into the next level: of a commit of 100 new
 * entities that was a sixth of all its work (docs/decisions/0004-ranges-and-batches-on-disk.md).
 *
 *   keys written since the store was opened ─┐
 *   keys that were there ── read once ───────┴─▶ filter: a key that is in neither is absent
 *
 * A store that is empty when it is opened knows all of its keys from then on. Another one reads them, a part in each turn,
 * when so many rows were asked for in vain that it pays.
 *
 * A1  lacks(key) is true only of rows that the newest acknowledged version does not have: every key is noted before LevelDB
 *     writes it, and those that were there are noted before the answer is ever true.   test/property/level-kv-concurrent.test.ts
 *
 * Rows are taken away from the store, never from the filter: what was deleted is asked for again. After a clear it begins anew.
 */
import { byteString, bytesOf } from '../encoding/bytes.ts'
import type { PlacedRange } from './areas.ts'
import { KeyFilter } from './key-filter.ts'
import type { RowKey } from './kv.ts'
import type { LevelDatabase } from './level-version.ts'

/** Twenty-six million keys. */
const filterBytesMax = 32 << 20

/**
 * Measured: to read the keys of 100,000 entities takes 0.3–0.6 s of CPU, 3–6 ms a turn; a read in vain some 8 µs, what LevelDB
 * merges for it included. Fewer would not pay for it; a store that is opened for a look is left alone.
 */
const missesBeforeReading = 16_384

const keysOfTurn = 1000

/** Where the rows are that are read before they are written. */
interface AbsentSource {
  readonly level: LevelDatabase
  partsOf(): readonly PlacedRange[]
}

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

  /** @param prefix - how the keys of the rows begin that are read before they are written */
  constructor(source: AbsentSource, prefix: string, isEmpty: boolean, missesMax: number = missesBeforeReading) {
    this.#source = source
    this.#prefix = prefix
    this.#missesMax = missesMax
    if (isEmpty) this.#state = 'complete'
  }

  /** Whether it is certain that there is no such row. */
  lacks(key: RowKey): boolean {
    return this.#state === 'complete' && key.startsWith(this.#prefix) && !this.#filter.mayHave(key)
  }

  /** A row was read, and was not there. */
  missed(key: RowKey): void {
    if (this.#state !== 'incomplete' || this.#clearing > 0 || !key.startsWith(this.#prefix)) return
    if (++this.#misses < this.#missesMax) return
    this.#state = 'reading'
    this.#read().catch(() => {
      // The store is closed or damaged, which the read itself reports.
      if (this.#state === 'reading') this.#state = 'given up'
    })
  }

  /** To be told of each row that is set, before LevelDB writes it. */
  note(key: RowKey): void {
    if (key.startsWith(this.#prefix)) this.#filter.add(key)
  }

  /** To be told before a clear is submitted; `cleared` when it is acknowledged, or has failed. */
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
    for (const { start, end, prefix } of this.#source.partsOf()) {
      const [gte, lt] = [bytesOf(prefix + start), bytesOf(prefix + end)]
      const keys = this.#source.level.keys({ gte, lt, fillCache: false })
      try {
        for (let found = await keys.nextv(keysOfTurn); found.length > 0; found = await keys.nextv(keysOfTurn)) {
          if (this.#clears !== clears) return
          for (const key of found) this.#filter.add(byteString(key.subarray(prefix.length)))
        }
      } finally {
        await keys.close()
      }
    }
    if (this.#clears === clears) this.#state = 'complete'
  }
}
