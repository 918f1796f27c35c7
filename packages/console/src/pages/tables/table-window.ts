/**
 * The rows of one table that a pane holds: a stretch that grows at the end to which the user scrolls and is cut at the other. A
 * table has no row numbers, so the stretch is known by its row keys.
 *
 *   … previous() ◀── [ rows ] ──▶ next() …        open(from): begins anew at a row      refresh(): the same stretch, read anew
 *
 * No call asks for more than {@link pageRows} rows, and no more than {@link heldMax} are held.
 *
 * RW2  Whatever is scrolled, the rows held are neighbours in the table, in row key order.         both: table-window.test.ts
 */

import type { TableReport } from '@sixtables/engine'

/** Texts of `rowKey` sort as the bytes do. */
export type TableRow = TableReport['rows'][number]
export type Tablet = TableReport['tablets'][number]
/** The server's answer for a stretch of a table. */
export type TableAnswer = Omit<TableReport, 'table'>

export type Stretch = Partial<Record<'from' | 'after' | 'before', string>> & { readonly limit: number }

/** Maximum number of rows of a call. */
export const pageRows = 100
export const heldMax = 240
/** Rows that a pane opens with. */
const openRows = 60
/** Rows before the one that a pane opens at, so that it can be scrolled up to. */
const contextRows = 20

export class RowWindow {
  rows: readonly TableRow[] = []
  tablets: readonly Tablet[] = []
  /** No row is before those held, or behind them. */
  atStart = true
  atEnd = true
  isLoaded = false
  error: Error | undefined
  /** Grows whenever anything above is another. */
  revision = 0
  readonly #read: (stretch: Stretch) => Promise<TableAnswer>
  readonly #changed: () => void
  #opened = 0
  #isBusy = false
  /** The call under way, with the refresh behind it. */
  #running: Promise<void> = Promise.resolve()
  #refreshWanted = false

  /** @param changed - called when {@link revision} has grown */
  constructor(read: (stretch: Stretch) => Promise<TableAnswer>, changed: () => void) {
    this.#read = read
    this.#changed = changed
  }

  get isReading(): boolean {
    return this.#isBusy
  }

  /** Begins at a row, or at the start of the table; what is under way is dropped. */
  open(from?: string): Promise<void> {
    return this.#replace(async () => {
      const ahead = await this.#read({ limit: openRows, ...(from === undefined ? {} : { from }) })
      if (from === undefined)
        return { rows: ahead.rows, answers: [ahead], atStart: true, atEnd: ahead.next === undefined }
      const behind = await this.#read({ limit: contextRows, before: from })
      return {
        rows: [...behind.rows, ...ahead.rows],
        answers: [behind, ahead],
        atStart: behind.previous === undefined,
        atEnd: ahead.next === undefined,
      }
    })
  }

  /** Begins at the last rows. @param beyond - a row key behind all of the table's */
  openEnd(beyond: string): Promise<void> {
    return this.#replace(async () => {
      const last = await this.#read({ limit: openRows, before: beyond })
      return { rows: last.rows, answers: [last], atStart: last.previous === undefined, atEnd: true }
    })
  }

  next(): Promise<void> {
    const last = this.rows.at(-1)
    if (last === undefined || this.atEnd) return Promise.resolve()
    return this.#extend(async () => {
      const answer = await this.#read({ limit: pageRows, after: last.rowKey })
      const rows = [...this.rows, ...answer.rows]
      const cut = Math.max(0, rows.length - heldMax)
      return {
        rows: rows.slice(cut),
        answers: [{ tablets: this.tablets }, answer],
        atStart: this.atStart && cut === 0,
        atEnd: answer.next === undefined,
      }
    })
  }

  previous(): Promise<void> {
    const first = this.rows[0]
    if (first === undefined || this.atStart) return Promise.resolve()
    return this.#extend(async () => {
      const answer = await this.#read({ limit: pageRows, before: first.rowKey })
      const rows = [...answer.rows, ...this.rows]
      return {
        rows: rows.slice(0, heldMax),
        answers: [answer, { tablets: this.tablets }],
        atStart: answer.previous === undefined,
        atEnd: this.atEnd && rows.length <= heldMax,
      }
    })
  }

  /** Reads the same stretch anew. While a call is under way it is done behind it, once. Resolves when it is done. */
  refresh(): Promise<void> {
    if (this.#isBusy) {
      this.#refreshWanted = true
      return this.#running
    }
    return this.#extend(async () => {
      const first = this.rows[0]
      const wanted = Math.min(heldMax, Math.max(openRows, this.rows.length))
      const answers: TableAnswer[] = []
      const rows: TableRow[] = []
      let where: Pick<Stretch, 'from' | 'after'> = this.atStart || first === undefined ? {} : { from: first.rowKey }
      for (;;) {
        const answer = await this.#read({ limit: Math.min(pageRows, wanted - rows.length), ...where })
        answers.push(answer)
        rows.push(...answer.rows)
        if (answer.next === undefined) return { rows, answers, atStart: this.atStart, atEnd: true }
        if (rows.length >= wanted) return { rows, answers, atStart: this.atStart, atEnd: false }
        where = { after: answer.next }
      }
    })
  }

  /** Whether a row would be among those held. */
  covers(rowKey: string): boolean {
    const [first, last] = [this.rows[0], this.rows.at(-1)]
    if (first === undefined || last === undefined) return this.isLoaded
    return (this.atStart || first.rowKey <= rowKey) && (this.atEnd || rowKey <= last.rowKey)
  }

  #replace(read: () => Promise<Held>): Promise<void> {
    this.#opened++
    this.#isBusy = false
    return this.#extend(read)
  }

  #extend(read: () => Promise<Held>): Promise<void> {
    if (this.#isBusy) return Promise.resolve()
    this.#isBusy = true
    this.#running = this.#run(read)
    return this.#running
  }

  async #run(read: () => Promise<Held>): Promise<void> {
    const opened = this.#opened
    try {
      const { rows, answers, atStart, atEnd } = await read()
      if (opened !== this.#opened) return
      Object.assign(this, { rows, atStart, atEnd, isLoaded: true, error: undefined })
      this.tablets = tabletsOf(answers, rows)
    } catch (error) {
      if (opened !== this.#opened) return
      this.error = error as Error
    }
    this.#isBusy = false
    this.revision++
    this.#changed()
    if (!this.#refreshWanted) return
    this.#refreshWanted = false
    await this.refresh()
  }
}

interface Held {
  readonly rows: readonly TableRow[]
  readonly answers: readonly Pick<TableAnswer, 'tablets'>[]
  readonly atStart: boolean
  readonly atEnd: boolean
}

/** The tablets of some answers that still have one of the rows, in their order. */
function tabletsOf(answers: readonly Pick<TableAnswer, 'tablets'>[], rows: readonly TableRow[]): readonly Tablet[] {
  const byStart = new Map(answers.flatMap(({ tablets }) => tablets.map((tablet) => [tablet.start, tablet])))
  const sorted = [...byStart.values()].sort((a, b) => (a.start < b.start ? -1 : 1))
  const [first = '', last = ''] = [rows[0]?.rowKey, rows.at(-1)?.rowKey]
  return sorted.filter(({ start }, i) => start <= last && (sorted[i + 1]?.start ?? 'g') > first)
}
