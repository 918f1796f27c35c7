/**
 * A recording of heat, second by second, while it is watched: each second keeps the key ranges that it was counted by, so that
 * what was seen stays as it was however ranges are divided later.
 *
 *   advance(now) ─▶ seconds that are over ─▶ columns, numbered 1, 2, 3, …  ─▶ read by any number of readers, from a number on
 *
 * RD1  A column is complete when it is given, and never changes.                                   heat-recording.test.ts
 * RD2  Memory is bounded: an hour of seconds, and cellsMax cells; the oldest go first.             heat-recording.test.ts
 * RD3  Nothing is recorded five minutes after the last watcher has gone.                               heat-recording.test.ts
 */

import type { HeatColumn, HeatHistory } from './heat-history.ts'
import { heatTiers } from './heat-range.ts'

const secondsMax = 3_600
export const cellsMax = 200_000
/** A page that is loaded anew finds the recording where it was. */
const keptMs = 300_000
const secondMs = 1_000
/** After a pause the seconds before are looked for as far back as the first tier goes. */
const catchUpMax = heatTiers[0]?.columns ?? 0

export class HeatRecording {
  readonly #heat: HeatHistory
  #columns: HeatColumn[] = []
  /** Number of the column before the first one that is kept. */
  #dropped = 0
  #cells = 0
  #watchers = 0
  /** The second to seal next; `undefined`: nothing is recorded. */
  #next: number | undefined
  #keptUntilMs = 0
  /** Changes when what was read before no longer holds. */
  generation = 0

  constructor(heat: HeatHistory) {
    this.#heat = heat
  }

  get isWatched(): boolean {
    return this.#watchers > 0
  }

  /** When the first recorded second began; before it there are only tiers. */
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

  /** Records the seconds that are over. Nothing of the time from `nowMs` on has been counted yet. */
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
      // A clock that was set back.
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

  /** The store was emptied, or is another one. */
  clear(nowMs: number): void {
    this.#forget()
    if (this.#next !== undefined) this.#next = Math.floor(nowMs / secondMs)
  }

  /** Columns after a number, and the number to go on from. Some may have gone unread. */
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
