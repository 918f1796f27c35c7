/**
 * A scan of a LevelDB store, at one moment, read ahead in chunks.
 *
 *   ahead      the rows of the last chunk; those from `at` on are still to be answered
 *   frontier   where reading goes on after them: forwards with the first row at or after it, backwards with the last row
 *              before it. `key + 00` is the gap right after `key`.
 *   iterator   LevelDB's, opened by the first read and kept; it stands at `standing`, or must be moved first
 *
 * Measured: a read costs 60 µs however few rows it brings (two thread hops), and 2 µs a row; so a chunk is at least what is
 * asked or expected, and doubles while the scan goes on. A seek inside the rows read ahead costs a binary search.
 */
import { Buffer } from 'node:buffer'
import { byteString } from '../encoding/bytes.ts'
import { invariant } from '../invariant.ts'
import type { KeyRange, KvRow, KvScan, RowKey, ScanOptions } from './kv.ts'
import { readError } from './level-error.ts'
import type { LevelDatabase, Moment } from './level-moment.ts'

interface LevelIterator {
  nextv(size: number): Promise<[key: Uint8Array, value: Uint8Array][]>
  seek(target: Uint8Array): void
  close(): Promise<void>
}

const chunkRowsMax = 256
/** LevelDB ends a chunk early after this many bytes: about one entity of the largest size. */
const chunkBytesMax = 1 << 20

const noRows: readonly KvRow[] = []

export class LevelScan implements KvScan {
  readonly #level: LevelDatabase
  readonly #moment: Moment
  readonly #range: KeyRange
  readonly #reverse: boolean
  #frontier: RowKey
  #ahead: readonly KvRow[] = noRows
  #at = 0
  #ended = false
  #closed = false
  #iterator: LevelIterator | undefined
  #standing: RowKey | undefined
  #chunkRows: number
  #seeks = 0
  /** Settles, never rejects, when the read under way is over. */
  #reading: Promise<unknown> | undefined

  constructor(level: LevelDatabase, moment: Moment, range: KeyRange, options: ScanOptions) {
    this.#level = level
    this.#moment = moment
    this.#range = range
    this.#reverse = options.reverse === true
    this.#frontier = this.#reverse ? range.end : range.start
    this.#ended = range.start >= range.end
    this.#chunkRows = options.expect ?? 0
    moment.hold()
  }

  next(count: number): readonly KvRow[] | Promise<readonly KvRow[]> {
    if (this.#closed) return noRows
    if (this.#reading !== undefined) return this.#reading.then(() => this.next(count))
    if (this.#at < this.#ahead.length) return this.#take(count)
    if (this.#ended) return noRows
    const reading = this.#read(count)
    this.#reading = reading.then(
      () => {
        this.#reading = undefined
      },
      () => {
        this.#reading = undefined
      },
    )
    return reading
  }

  seek(key: RowKey): void {
    if (this.#seekAhead(key)) return
    const { start, end } = this.#range
    if (this.#reverse) this.#frontier = key >= end ? end : `${key}\x00`
    else this.#frontier = key < start ? start : key
    this.#ended = start >= end || (this.#reverse ? this.#frontier <= start : this.#frontier >= end)
    this.#ahead = noRows
    this.#at = 0
    this.#chunkRows = 0
    this.#seeks++
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#ahead = noRows
    this.#iterator?.close().catch(() => {})
    this.#iterator = undefined
    this.#moment.release()
  }

  /** Whether the place of `key` is known from the rows read ahead; then the scan stands there. */
  #seekAhead(key: RowKey): boolean {
    const rows = this.#ahead
    const first = rows[0]
    const last = rows[rows.length - 1]
    if (first === undefined || last === undefined) return false
    const reverse = this.#reverse
    if (reverse ? key > first.key : key < first.key) return false
    if (!this.#ended && (reverse ? key < last.key : key > last.key)) return false
    let low = 0
    let high = rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = (rows[middle] as KvRow).key
      if (reverse ? at > key : at < key) low = middle + 1
      else high = middle
    }
    this.#at = low
    return true
  }

  #take(count: number): readonly KvRow[] {
    const rows = this.#ahead
    const from = this.#at
    this.#at = Math.min(rows.length, from + count)
    return from === 0 && this.#at === rows.length ? rows : rows.slice(from, this.#at)
  }

  async #read(count: number): Promise<readonly KvRow[]> {
    const asked = Math.min(Math.max(count, this.#chunkRows), chunkRowsMax)
    const seeks = this.#seeks
    const entries = await this.#nextEntries(asked)
    const rows: KvRow[] = []
    let bytes = 0
    for (const [key, value] of entries) {
      bytes += key.length + value.length
      rows.push({ key: byteString(key), value })
    }
    const last = rows[rows.length - 1]
    const ended = rows.length < asked && bytes <= chunkBytesMax
    if (ended || last === undefined) this.#standing = undefined
    else this.#standing = this.#reverse ? last.key : `${last.key}\x00`
    // A seek, or a close, that came during the read decides where the scan goes on; the caller still gets its rows.
    if (this.#closed || seeks !== this.#seeks) return rows.slice(0, count)
    if (this.#standing === undefined) this.#ended = true
    else this.#frontier = this.#standing
    this.#chunkRows = asked * 2
    this.#ahead = rows
    this.#at = 0
    return this.#take(count)
  }

  async #nextEntries(count: number): Promise<[key: Uint8Array, value: Uint8Array][]> {
    try {
      return await this.#iteratorAt(this.#frontier).nextv(count)
    } catch (cause) {
      throw readError(this.#level.location, cause)
    }
  }

  #iteratorAt(frontier: RowKey): LevelIterator {
    if (this.#iterator !== undefined && this.#standing === frontier) return this.#iterator
    const { start, end } = this.#range
    // Backwards LevelDB seeks the last row at or before a key: the gap right after a key. The end of the range need not be
    // such a gap; a new iterator begins there.
    if (frontier === (this.#reverse ? end : start)) {
      this.#iterator?.close().catch(() => {})
      this.#iterator = this.#open()
      return this.#iterator
    }
    invariant(!this.#reverse || frontier.endsWith('\x00'), 'a reverse scan stands right after a key')
    this.#iterator ??= this.#open()
    this.#iterator.seek(Buffer.from(this.#reverse ? frontier.slice(0, -1) : frontier, 'latin1'))
    return this.#iterator
  }

  #open(): LevelIterator {
    const { snapshot } = this.#moment
    return this.#level.iterator({
      gte: Buffer.from(this.#range.start, 'latin1'),
      lt: Buffer.from(this.#range.end, 'latin1'),
      reverse: this.#reverse,
      highWaterMarkBytes: chunkBytesMax,
      ...(snapshot === undefined ? {} : { snapshot }),
    })
  }
}
