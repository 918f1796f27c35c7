/**
 * A recording of heat, second by second, while it is watched. Each second keeps the key ranges that it was counted by, so later
 * divisions of ranges do not change it.
 *
 *   advance(now) ─▶ completed seconds ─▶ columns, numbered 1, 2, 3, …  ─▶ any number of readers, each from its number on
 *
 * Memory is bounded: an hour of seconds and cellsMax cells; the oldest are dropped. The recording ends five minutes after its
 * last watcher.
 *
 * RD1  A column is complete when it is first returned, and never changes.       heat-recording.test.ts
 */

import type { HeatColumn, HeatHistory } from './heat-history.ts'
import { heatTiers } from './heat-range.ts'

const secondsMax = 3_600
export const cellsMax = 200_000
/** Milliseconds without watchers before a recording ends, so that a reloaded page still has it. */
const keptMs = 300_000
const secondMs = 1_000
/** Maximum seconds to record after a pause: the length of the first tier. */
const catchUpMax = heatTiers[0]?.columns ?? 0

export class HeatRecording {
  readonly #heat: HeatHistory
  #columns: HeatColumn[] = []
  #dropped = 0
  #cells = 0
  #watchers = 0
  /** The next second to seal; `undefined` = not recording. */
  #next: number | undefined
  #keptUntilMs = 0
  /** Changes if readers must start again. */
  generation = 0

  constructor(heat: HeatHistory) {
    this.#heat = heat
  }

  get isWatched(): boolean {
    return this.#watchers > 0
  }

  /** Start of the first recorded second; the time before has only tiers. */
  get sinceMs(): number | undefined {
    return this.#next === undefined ? undefined : (this.#columns[0]?.atMs ?? this.#next * secondMs)
  }

  watch(nowMs: number): void {
    this.#watchers++
    this.#next ??= Math.floor(nowMs / secondMs)
    this.#heat.isRecorded = true
  }

  unwatch(nowMs: number): void {
    this.#watchers--
    this.#keptUntilMs = nowMs + keptMs
  }

  /** Records the completed seconds. Nothing from `nowMs` on may have been counted yet. */
  advance(nowMs: number): void {
    if (this.#next === undefined) return
    if (this.#watchers === 0 && nowMs > this.#keptUntilMs) {
      this.#forget()
      this.#next = undefined
      this.#heat.isRecorded = false
      return
    }
    const second = Math.floor(nowMs / secondMs)
    if (second <= this.#next) {
      // The clock was set back.
      if (second < this.#next - 1) this.clear(nowMs)
      return
    }
    for (let sealed = Math.max(this.#next, second - catchUpMax + 1); sealed < second; sealed++) {
      for (const column of this.#heat.seal(sealed)) {
        this.#columns.push(column)
        this.#cells += column.cells.length
      }
    }
    this.#next = second
    this.#trim(nowMs - secondsMax * secondMs)
  }

  clear(nowMs: number): void {
    this.#forget()
    if (this.#next !== undefined) this.#next = Math.floor(nowMs / secondMs)
  }

  /** Columns after a number, and the number to continue from. Older ones may have been dropped unread. */
  after(number: number): { readonly columns: readonly HeatColumn[]; readonly last: number } {
    const columns = this.#columns.slice(Math.max(0, number - this.#dropped))
    return { columns, last: this.#dropped + this.#columns.length }
  }

  #forget(): void {
    this.generation++
    this.#dropped += this.#columns.length
    this.#columns = []
    this.#cells = 0
  }

  #trim(oldestMs: number): void {
    let gone = 0
    for (const { atMs, cells } of this.#columns) {
      if (atMs >= oldestMs && this.#cells <= cellsMax) break
      this.#cells -= cells.length
      gone++
    }
    if (gone === 0) return
    this.#columns = this.#columns.slice(gone)
    this.#dropped += gone
  }
}
