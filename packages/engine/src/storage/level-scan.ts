/**
 * A scan of a LevelDB store at one version, with read-ahead in chunks: a read of LevelDB takes 60 µs however few rows it returns
 * (two thread hops), and 2 µs a row (measured).
 *
 *   ahead      the rows of the last chunk from LevelDB; those from `at` on are not given yet
 *   frontier   the place behind them, a gap between keys where reading continues: forwards with the first row at or after it,
 *              backwards with the last row before it. `key + 00` is the place right after `key`.
 *
 * next(2) on ToDo:1 … ToDo:100 reads a chunk of eight rows and gives ToDo:1 and ToDo:2: `ahead` has ToDo:3 … ToDo:8, and the
 * frontier is ToDo:8 00. After seek(ToDo:5) the next row is ToDo:5, without LevelDB; seek(ToDo:50) drops `ahead`.
 *
 * Rows that the row cache has for the scan's version are given at once; rows from LevelDB are added to it. A chunk has at
 * least the requested or expected number of rows, and doubles as the scan continues.
 */
import { Buffer } from 'node:buffer'
import { byteString } from '../encoding/bytes.ts'
import { lowerBound } from '../lower-bound.ts'
import { earlier, later, type PlacedRange } from './areas.ts'
import type { KvRow, KvScan, RowKey, ScanOptions } from './kv.ts'
import { DamagedRow, readError } from './level-error.ts'
import type { LevelDatabase, StoreVersion } from './level-version.ts'
import { type RowCache, rowOf, rowsOfSpan } from './row-cache.ts'
import { provenValue } from './row-proof.ts'

/** LevelDB ends a chunk after this many bytes: about one entity of the largest size. */
const chunkBytesMax = 1 << 20

const chunkRowsMax = 256
/** The least rows to read for the cache: at 2 µs a row they cost less than another read (60 µs). */
const cachedRowsMin = 8

const noRows: readonly KvRow[] = []

interface LevelIterator {
  nextv(size: number): Promise<[key: Uint8Array, value: Uint8Array][]>
  seek(target: Uint8Array): void
  close(): Promise<void>
}

interface Chunk {
  readonly rows: readonly KvRow[]
  /** The place after its last row; the end of the range if there are no more. */
  readonly end: RowKey
}

export interface ScanSource {
  readonly level: LevelDatabase
  readonly cache: RowCache | undefined
}

export class LevelScan implements KvScan {
  readonly #source: ScanSource
  readonly #version: StoreVersion
  readonly #range: PlacedRange
  readonly #reverse: boolean
  #frontier: RowKey
  #ahead: readonly KvRow[] = noRows
  #at = 0
  #ended: boolean
  #closed = false
  #iterator: LevelIterator | undefined
  /** The place of the iterator; `undefined` = unknown. */
  #standing: RowKey | undefined
  #chunkRows: number
  #seeks = 0
  /** Settles, never rejects, when the read in progress has ended. */
  #reading: Promise<unknown> | undefined

  constructor(source: ScanSource, version: StoreVersion, range: PlacedRange, options: ScanOptions) {
    this.#source = source
    this.#version = version
    this.#range = range
    this.#reverse = options.reverse === true
    this.#frontier = this.#reverse ? range.end : range.start
    this.#ended = range.start >= range.end
    this.#chunkRows = options.expect ?? 0
    version.hold()
  }

  next(count: number): readonly KvRow[] | Promise<readonly KvRow[]> {
    if (this.#closed) return noRows
    if (this.#reading !== undefined) return this.#reading.then(() => this.next(count))
    if (this.#at < this.#ahead.length) return this.#take(count)
    const known = this.#readCached(count)
    if (known.length > 0 || this.#ended) return known
    const reading = this.#read(count)
    const over = (): void => {
      this.#reading = undefined
    }
    this.#reading = reading.then(over, over)
    return reading
  }

  seek(key: RowKey): void {
    if (this.#seekAhead(key)) return
    const { start, end } = this.#range
    if (start >= end) return
    if (this.#reverse) this.#advance(key >= end ? end : `${key}\x00`)
    else this.#advance(key < start ? start : key)
    this.#ahead = noRows
    this.#at = 0
    this.#chunkRows = 0
    this.#seeks++
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#ahead = noRows
    this.#closeIterator()
    this.#version.release()
  }

  /** Moves to the place of `key` if the rows read ahead contain it; else returns false. */
  #seekAhead(key: RowKey): boolean {
    const rows = this.#ahead
    const first = rows[0]
    const last = rows[rows.length - 1]
    if (first === undefined || last === undefined) return false
    const reverse = this.#reverse
    if (reverse ? key > first.key : key < first.key) return false
    if (!this.#ended && (reverse ? key < last.key : key > last.key)) return false
    this.#at = lowerBound(rows.length, (place) => {
      const at = (rows[place] as KvRow).key
      return reverse ? at > key : at < key
    })
    return true
  }

  #take(count: number): readonly KvRow[] {
    const rows = this.#ahead
    const from = this.#at
    this.#at = Math.min(rows.length, from + count)
    return from === 0 && this.#at === rows.length ? rows : rows.slice(from, this.#at)
  }

  #advance(frontier: RowKey): void {
    this.#frontier = frontier
    this.#ended = this.#reverse ? frontier <= this.#range.start : frontier >= this.#range.end
  }

  /** Rows from the cache, without a gap from the frontier on. */
  #readCached(count: number): readonly KvRow[] {
    const { cache } = this.#source
    if (cache === undefined || this.#version.past) return noRows
    const reverse = this.#reverse
    let rows: KvRow[] | undefined
    let missing = count
    while (missing > 0 && !this.#ended) {
      const span = cache.spanFrom(this.#frontier, reverse)
      if (span === undefined) break
      const part = reverse
        ? { start: later(span.start, this.#range.start), end: this.#frontier }
        : { start: this.#frontier, end: earlier(span.end, this.#range.end) }
      const found = rowsOfSpan(span, part, reverse, missing)
      const last = found[found.length - 1]
      if (last === undefined || found.length < missing) this.#advance(reverse ? part.start : part.end)
      else this.#advance(reverse ? last.key : `${last.key}\x00`)
      missing -= found.length
      if (rows === undefined) rows = found
      else rows.push(...found)
    }
    if (rows === undefined) return noRows
    this.#ahead = noRows
    this.#at = 0
    return rows
  }

  /** Rows from LevelDB. Only those of the newest version are cached: older ones may have changed since. */
  async #read(count: number): Promise<readonly KvRow[]> {
    const cache = this.#version.past ? undefined : this.#source.cache
    const least = cache === undefined ? count : Math.max(count, cachedRowsMin)
    const asked = Math.min(Math.max(least, this.#chunkRows), chunkRowsMax)
    const seeks = this.#seeks
    const from = this.#frontier
    const fill = cache?.beginFill()
    let chunk: Chunk | undefined
    try {
      chunk = await this.#chunkFrom(from, asked)
    } finally {
      if (fill !== undefined) {
        const known = chunk && (this.#reverse ? { start: chunk.end, end: from } : { start: from, end: chunk.end })
        cache?.endFill(fill, known, this.#reverse ? chunk?.rows.toReversed() : chunk?.rows)
      }
    }
    // A seek or close during the read decides where the scan continues; the caller still gets the rows.
    if (this.#closed || seeks !== this.#seeks) return chunk.rows.slice(0, count)
    this.#advance(chunk.end)
    this.#chunkRows = asked * 2
    this.#ahead = chunk.rows
    this.#at = 0
    return this.#take(count)
  }

  /**
   * The next rows from a place inside the range: about `count` of them, fewer if they are long, none only at the end. One
   * read at a time. Rejects with UNAVAILABLE if LevelDB fails or was closed, and with DamagedRow if the first row is damaged;
   * a later damaged row ends the chunk before it.
   */
  async #chunkFrom(place: RowKey, count: number): Promise<Chunk> {
    try {
      return await this.#load(place, count)
    } catch (cause) {
      this.#standing = undefined
      throw readError(this.#source.level.location, cause)
    }
  }

  async #load(place: RowKey, count: number): Promise<Chunk> {
    const { prefix } = this.#range
    const rows: KvRow[] = []
    let ended = false
    // One turn, or two if the first returns only the row at the place itself.
    while (rows.length === 0 && !ended) {
      const entries = await this.#iteratorAt(place).nextv(count)
      let bytes = 0
      for (const [bytesOfKey, stored] of entries) {
        bytes += bytesOfKey.length + stored.length
        const key = byteString(prefix.length === 0 ? bytesOfKey : bytesOfKey.subarray(prefix.length))
        // Backwards LevelDB seeks the last row at or before a key; a row at the place itself is skipped.
        if (this.#reverse && key >= place) continue
        const value = provenValue(bytesOfKey, stored)
        if (value === undefined) {
          const last = rows[rows.length - 1]
          if (last === undefined) throw new DamagedRow(this.#source.level.location, key)
          // The iterator is behind the damaged row.
          this.#standing = undefined
          return { rows, end: this.#behind(last) }
        }
        rows.push(rowOf(key, value))
      }
      ended = entries.length < count && bytes <= chunkBytesMax
      this.#standing = place
    }
    const last = rows[rows.length - 1]
    if (ended || last === undefined) this.#standing = this.#reverse ? this.#range.start : this.#range.end
    else this.#standing = this.#behind(last)
    return { rows, end: this.#standing }
  }

  #behind({ key }: KvRow): RowKey {
    return this.#reverse ? key : `${key}\x00`
  }

  /** LevelDB's iterator at a place. It is opened by the first read and kept; a read moves it if it is at another place. */
  #iteratorAt(place: RowKey): LevelIterator {
    if (this.#iterator !== undefined && this.#standing === place) return this.#iterator
    const edge = this.#reverse ? this.#range.end : this.#range.start
    // The end of the range is outside of it, so no seek leads there: a new iterator begins there.
    if (this.#iterator === undefined || (this.#reverse && place === edge)) {
      this.#closeIterator()
      this.#iterator = this.#open()
      if (place === edge) return this.#iterator
    }
    this.#iterator.seek(this.#stored(place))
    return this.#iterator
  }

  #stored(place: RowKey): Buffer {
    return Buffer.from(this.#range.prefix + place, 'latin1')
  }

  #open(): LevelIterator {
    const { snapshot } = this.#version
    return this.#source.level.iterator({
      gte: this.#stored(this.#range.start),
      lt: this.#stored(this.#range.end),
      reverse: this.#reverse,
      highWaterMarkBytes: chunkBytesMax,
      ...(snapshot === undefined ? {} : { snapshot: snapshot.snapshot }),
    })
  }

  #closeIterator(): void {
    // Closing cannot fail and waits for a read in progress; no caller waits for it.
    this.#iterator?.close().catch(() => {})
    this.#iterator = undefined
  }
}
