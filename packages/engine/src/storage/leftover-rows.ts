/**
 * The cleaner: deletes, in the background, the rows that a deletion of ranges left in LevelDB (areas.ts), and frees their disk
 * space. After a reset of a million rows it deletes 4,096 of them at a time, and other writes go in between.
 *
 *   one range after the other:   delete its rows, some in each turn of the writer ▪ compact the range ▪ remove it from the table
 *   then the moved ranges:       move rows back to area 0, some in each turn ▪ remove the range from the table
 *
 * If the store is closed or dies meanwhile, the ranges are still in the table, and the work continues when it is opened
 * again.
 */
import { byteString, bytesOf } from '../encoding/bytes.ts'
import { earlier, type PlacedRange, storedRange } from './areas.ts'
import type { KeyRange } from './kv.ts'
import { inRange, type LevelDatabase } from './level-version.ts'
import type { LevelWriter } from './level-writer.ts'

/** Rows deleted per turn, which other writes wait for: some 10 ms of LevelDB. */
const rowsOfTurn = 4096

/** Rows and bytes moved back per turn. */
const homeRowsOfTurn = 512
const homeBytesOfTurn = 1 << 20

/** A smaller range is not worth a compaction: LevelDB does it by itself some day. */
const compactedBytesMin = 1 << 20

interface Work {
  readonly range: KeyRange
  /** Whether the range has rows that no reader finds; else it only needs compacting. */
  readonly isLeftover: boolean
}

export class LeftoverRows {
  readonly #level: LevelDatabase
  readonly #writer: LevelWriter
  readonly #waiting: Work[] = []
  #working: Promise<void> | undefined
  #isClosing = false

  constructor(level: LevelDatabase, writer: LevelWriter) {
    this.#level = level
    this.#writer = writer
  }

  /** Resolves when nothing is left over, or the store is closing; rejects if the store has failed. */
  get over(): Promise<void> {
    return this.#working ?? Promise.resolve()
  }

  add(ranges: readonly KeyRange[], isLeftover: boolean): void {
    for (const range of ranges) if (range.start < range.end) this.#waiting.push({ range, isLeftover })
    if (this.#isClosing || (this.#waiting.length === 0 && this.#writer.areas.stray === undefined)) return
    this.#working ??= this.#work()
    // The store knows of the failure.
    this.#working.catch(() => {})
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.over.catch(() => {})
  }

  async #work(): Promise<void> {
    try {
      while (!this.#isClosing) {
        const [next] = this.#waiting
        const { stray } = this.#writer.areas
        if (next !== undefined) await this.#clean(next)
        else if (stray !== undefined) await this.#bringHome(stray)
        else return
      }
    } catch (error) {
      if (!this.#isClosing) this.#writer.fail(error)
      throw error
    } finally {
      this.#working = undefined
    }
  }

  async #clean({ range, isLeftover }: Work): Promise<void> {
    if (isLeftover) await this.#delete(range)
    if (!this.#isClosing) await this.#compact(range)
    if (isLeftover && !this.#isClosing) await this.#writer.cleaned(range)
    this.#waiting.shift()
  }

  async #bringHome(home: PlacedRange): Promise<void> {
    const { start, end, prefix } = home
    const rows = this.#level.iterator({ ...inRange(storedRange(home)), highWaterMarkBytes: homeBytesOfTurn })
    try {
      const last = (await rows.nextv(homeRowsOfTurn)).at(-1)
      const to = last === undefined ? end : `${byteString(last[0].subarray(prefix.length))}\x00`
      // A reset meanwhile may have left rows in area 0, or moved the range or a part of it.
      const { stray } = this.#writer.areas
      if (stray?.prefix !== prefix || stray.start !== start) return
      await this.#writer.bringHome({ start, end: earlier(to, stray.end), prefix })
    } finally {
      await rows.close()
    }
  }

  async #delete({ start, end }: KeyRange): Promise<void> {
    for (let from = start; !this.#isClosing; ) {
      const [first] = await this.#level.keys({ ...inRange({ start: from, end }), limit: 1 }).all()
      if (first === undefined) return
      from = byteString(first)
      await this.#writer.clean({ start: from, end }, rowsOfTurn)
    }
  }

  async #compact(range: KeyRange): Promise<void> {
    const level = this.#level as LevelDatabase & {
      approximateSize(from: Uint8Array, to: Uint8Array): Promise<number>
      compactRange(from: Uint8Array, to: Uint8Array): Promise<void>
    }
    const [start, end] = [bytesOf(range.start), bytesOf(range.end)]
    if ((await level.approximateSize(start, end)) >= compactedBytesMin) await level.compactRange(start, end)
  }
}
