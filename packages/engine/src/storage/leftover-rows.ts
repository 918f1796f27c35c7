/**
 * Deletes, in the background, the rows that a deletion of ranges has left in LevelDB (areas.ts), and gives their room on disk back.
 *
 *   one range after the other:   rows deleted, a part in each turn of the writer ▪ range compacted ▪ taken off the table
 *   then the moved ranges:       rows brought home to area 0, a part in each turn ▪ taken off the table
 *
 * A store that is closed, or dies, meanwhile goes on with it when it is opened again: until then the table has the range.
 */
import { byteString, bytesOf } from '../encoding/bytes.ts'
import { earlier, type PlacedRange } from './areas.ts'
import type { KeyRange } from './kv.ts'
import type { LevelDatabase } from './level-version.ts'
import type { LevelWriter } from './level-writer.ts'

/** Rows that a turn deletes: a write of others waits for that. Some 10 ms of LevelDB's. */
const rowsOfTurn = 4096

/** Rows and bytes that a turn brings home. */
const homeRowsOfTurn = 512
const homeBytesOfTurn = 1 << 20

/** Less is not worth a compaction: LevelDB comes to it by itself. */
const compactedBytesMin = 1 << 20

interface Work {
  /** A range of LevelDB's keys. */
  readonly range: KeyRange
  /** Whether the range has rows that no reader finds; else only its room is to be given back. */
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

  /** Resolves when all that was left over is gone, or when the store is closing; rejects when it has failed. */
  get over(): Promise<void> {
    return this.#working ?? Promise.resolve()
  }

  add(ranges: readonly KeyRange[], isLeftover: boolean): void {
    for (const range of ranges) if (range.start < range.end) this.#waiting.push({ range, isLeftover })
    if (this.#isClosing || (this.#waiting.length === 0 && this.#writer.areas.stray === undefined)) return
    this.#working ??= this.#work()
    // A failure is known to the store.
    this.#working.catch(() => {})
  }

  /** Waits for the turn under way. */
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

  /** The first rows of a range. */
  async #bringHome({ start, end, prefix }: PlacedRange): Promise<void> {
    const [gte, lt] = [bytesOf(prefix + start), bytesOf(prefix + end)]
    const rows = this.#level.iterator({ gte, lt, fillCache: false, highWaterMarkBytes: homeBytesOfTurn })
    try {
      const last = (await rows.nextv(homeRowsOfTurn)).at(-1)
      const to = last === undefined ? end : `${byteString(last[0].subarray(prefix.length))}\x00`
      // A reset that has come meanwhile may have left rows in area 0, or moved the range or a part of it.
      const { stray } = this.#writer.areas
      if (stray?.prefix !== prefix || stray.start !== start) return
      await this.#writer.bringHome({ start, end: earlier(to, stray.end), prefix })
    } finally {
      await rows.close()
    }
  }

  async #delete({ start, end }: KeyRange): Promise<void> {
    for (let from = start; !this.#isClosing; ) {
      const [first] = await this.#level.keys({ gte: bytesOf(from), lt: bytesOf(end), limit: 1, fillCache: false }).all()
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
