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
export type TableAnswer = Omit<TableReport, 'table'>

interface Held extends Pick<TableAnswer, 'rows' | 'tablets'> {
  readonly previous?: string | undefined
  readonly next?: string | undefined
}

export type Stretch = Partial<Record<'from' | 'after' | 'before', string>> & { readonly limit: number }

export const pageRows = 100
export const heldMax = 240
const openRows = 60
/** Rows before the one that a pane opens at, so that it can be scrolled up to. */
const contextRows = 20

export class RowWindow {
  isLoaded = false
  isReading = false
  error: Error | undefined
  /** Grows whenever anything that it shows is another. */
  revision = 0
  #held: Held = { rows: [], tablets: [] }
  readonly #read: (stretch: Stretch) => Promise<TableAnswer>
  readonly #changed: () => void
  #opened = 0
  /** The call under way, with the refresh behind it. */
  #running: Promise<void> = Promise.resolve()
  #refreshWanted = false

  /** @param changed - called when {@link revision} has grown */
  constructor(read: (stretch: Stretch) => Promise<TableAnswer>, changed: () => void) {
    this.#read = read
    this.#changed = changed
  }

  get rows(): readonly TableRow[] {
    return this.#held.rows
  }

  get tablets(): readonly Tablet[] {
    return this.#held.tablets
  }

  get atStart(): boolean {
    return this.#held.previous === undefined
  }

  get atEnd(): boolean {
    return this.#held.next === undefined
  }

  /** Begins at a row, or at the start of the table; what is under way is dropped. */
  open(from?: string): Promise<void> {
    return this.#replace(async () => {
      if (from === undefined) return await this.#read({ limit: openRows })
      const ahead = await this.#read({ limit: openRows, from })
      return joined(await this.#read({ limit: contextRows, before: from }), ahead)
    })
  }

  /** Begins at the last rows. @param beyond - a row key behind all of the table's */
  openEnd(beyond: string): Promise<void> {
    return this.#replace(() => this.#read({ limit: openRows, before: beyond }))
  }

  next(): Promise<void> {
    const last = this.rows.at(-1)
    if (last === undefined || this.atEnd) return Promise.resolve()
    return this.#extend(async () => {
      const all = joined(this.#held, await this.#read({ limit: pageRows, after: last.rowKey }))
      return cut(all, Math.max(0, all.rows.length - heldMax))
    })
  }

  previous(): Promise<void> {
    const first = this.rows[0]
    if (first === undefined || this.atStart) return Promise.resolve()
    return this.#extend(async () =>
      cut(joined(await this.#read({ limit: pageRows, before: first.rowKey }), this.#held), 0),
    )
  }

  /** Reads the same stretch anew. While a call is under way it is done behind it, once. Resolves when it is done. */
  refresh(): Promise<void> {
    if (this.isReading) {
      this.#refreshWanted = true
      return this.#running
    }
    return this.#extend(async () => {
      const { rows, previous } = this.#held
      const wanted = Math.min(heldMax, Math.max(openRows, rows.length))
      let where: Pick<Stretch, 'from' | 'after'> = previous === undefined ? {} : { from: rows[0]?.rowKey ?? '' }
      let held: Held = { rows: [], tablets: [], previous }
      do {
        const answer = await this.#read({ limit: Math.min(pageRows, wanted - held.rows.length), ...where })
        held = joined(held, answer)
        where = { after: answer.next ?? '' }
      } while (held.next !== undefined && held.rows.length < wanted)
      return held
    })
  }

  covers(rowKey: string): boolean {
    const [first, last] = [this.rows[0], this.rows.at(-1)]
    if (first === undefined || last === undefined) return this.isLoaded
    return (this.atStart || first.rowKey <= rowKey) && (this.atEnd || rowKey <= last.rowKey)
  }

  #replace(read: () => Promise<Held>): Promise<void> {
    this.#opened++
    this.isReading = false
    return this.#extend(read)
  }

  #extend(read: () => Promise<Held>): Promise<void> {
    if (this.isReading) return Promise.resolve()
    this.isReading = true
    this.#running = this.#run(read)
    return this.#running
  }

  async #run(read: () => Promise<Held>): Promise<void> {
    const opened = this.#opened
    try {
      const held = await read()
      if (opened !== this.#opened) return
      this.#held = { ...held, tablets: tabletsOf(held) }
      this.isLoaded = true
      this.error = undefined
    } catch (error) {
      if (opened !== this.#opened) return
      this.error = error as Error
    }
    this.isReading = false
    this.revision++
    this.#changed()
    if (!this.#refreshWanted) return
    this.#refreshWanted = false
    await this.refresh()
  }
}

/** A stretch and the one behind it; the tablets of the later one count. */
function joined(a: Held, b: Held): Held {
  const byStart = new Map([...a.tablets, ...b.tablets].map((tablet) => [tablet.start, tablet]))
  return { rows: [...a.rows, ...b.rows], tablets: [...byStart.values()], previous: a.previous, next: b.next }
}

/** The rows of a stretch from a place on, as many as are held. */
function cut(stretch: Held, from: number): Held {
  const rows = stretch.rows.slice(from, from + heldMax)
  const previous = from > 0 ? rows[0]?.rowKey : stretch.previous
  const next = from + rows.length < stretch.rows.length ? rows.at(-1)?.rowKey : stretch.next
  return { rows, tablets: stretch.tablets, previous, next }
}

function tabletsOf({ rows, tablets }: Held): readonly Tablet[] {
  const sorted = tablets.toSorted((a, b) => (a.start < b.start ? -1 : 1))
  const [first = '', last = ''] = [rows[0]?.rowKey, rows.at(-1)?.rowKey]
  return sorted.filter(({ start }, i) => start <= last && (sorted[i + 1]?.start ?? 'g') > first)
}
