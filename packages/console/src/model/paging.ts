/**
 * The results of a query of any length, read page by page with cursors, of which the rows near the viewport are kept.
 *
 *   sections   |––– 100 rows –––|––– 97 rows –––|– dropped, 100 –|–– not read ––→
 *              start            cursor          cursor           cursor
 *
 * A section is the results between two cursors; the last one has no end. It has rows, or only a count: exact when its rows were
 * dropped, a guess when it was never read. Cursors are places in the order of the results, so a section that is read again has
 * whatever stands there now, and the sections around it stay as they are.
 *
 * No request asks for more than `pageMax` rows. Rows that come or go above the viewport are told in `shift`: its first row stays.
 *
 * PG2  At rest, the rows that the viewport wants are those of the query.                      paging.test.ts
 */
import { lowerBound } from './lower-bound.ts'

export const pageMax = 100

/** Rows that are read ahead of the viewport on either side. */
const ahead = 100

const keptMax = 60

export interface PageRequest {
  /** Cursors; `undefined` is the begin or the end of all results. */
  readonly start: string | undefined
  readonly end: string | undefined
  readonly limit: number
  readonly before: number
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** The cursor behind the last row. */
  readonly end: string
  /** Whether results may follow, before the end that was asked for. */
  readonly hasMore: boolean
}

interface PagesOptions<Row> {
  read(request: PageRequest, signal: AbortSignal): Promise<Page<Row>>
  /** Names a row; stays the same when its values change. */
  idOf(row: Row): string
  /** Changes with the values of a row. */
  stampOf(row: Row): string
  onChange(): void
}

interface Section<Row> {
  readonly start: string | undefined
  readonly end: string | undefined
  readonly rows: readonly Row[] | undefined
  readonly count: number
  readonly isStale: boolean
  readonly wasRead: boolean
}

export class Pages<Row> {
  /** Rows that came above the viewport less those that went, since the begin. */
  shift = 0
  /** The reason why the last read failed, until the next `want` or `invalidate` has read again: what it shows does not flicker. */
  error: unknown
  /** Rows that are new or changed since they were first seen. */
  readonly fresh = new Set<string>()
  readonly #options: PagesOptions<Row>
  readonly #abort = new AbortController()
  #sections: readonly Section<Row>[] = [unread(undefined, undefined, 1)]
  /** The index of each section's first row, and the count of all. */
  #starts: readonly number[] = [0, 1]
  #first = 0
  #last = 0
  #isReading = false
  #updates = 0
  /** How many sections the next read takes together: more when the last ones turned out to be empty. */
  #span = 1

  constructor(options: PagesOptions<Row>) {
    this.#options = options
  }

  /** Rows that are known, and one more while the end was not read. */
  get count(): number {
    return this.#starts.at(-1) ?? 0
  }

  get isComplete(): boolean {
    return this.#sections.at(-1)?.wasRead ?? true
  }

  get isNew(): boolean {
    return this.#sections.every(({ wasRead }) => !wasRead)
  }

  get isReading(): boolean {
    return this.#isReading
  }

  row(index: number): Row | undefined {
    const at = this.#sectionOf(index)
    return this.#sections[at]?.rows?.[index - (this.#starts[at] ?? 0)]
  }

  /** Rows from one index to another, as far as they are there. */
  rowsIn(first: number, last: number): readonly Row[] {
    return this.#sections.flatMap(({ rows = [] }, at) => {
      const start = this.#starts[at] ?? 0
      return rows.slice(Math.max(0, first - start), Math.max(0, last + 1 - start))
    })
  }

  /** The viewport: indexes of its first and last row. */
  want(first: number, last: number): void {
    this.#first = first
    this.#last = last
    void this.#readOn()
  }

  /** All rows may have changed. Those of the viewport are read again at once, the rest when it is wanted. */
  invalidate(): void {
    this.#set(this.#sections.map((section) => ({ ...section, isStale: true })))
    void this.#readOn()
  }

  /** Replaces rows whose new values are known already. Pages that are being read meanwhile may have the old ones, and are read again. */
  update(change: (row: Row) => Row): void {
    this.#updates++
    const updated = (row: Row): Row => {
      const changed = change(row)
      if (changed !== row) this.fresh.add(this.#options.idOf(row))
      return changed
    }
    this.#set(this.#sections.map((section) => ({ ...section, rows: section.rows?.map(updated) })))
    this.#options.onChange()
  }

  close(): void {
    this.#abort.abort()
  }

  async #readOn(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (;;) {
        const index = this.#nextToRead()
        if (this.#abort.signal.aborted) return
        if (index !== undefined) await this.#read(index)
        this.error = undefined
        if (index === undefined) return
        this.#drop()
        this.#options.onChange()
      }
    } catch (error) {
      if (this.#abort.signal.aborted) return
      this.error = error
    } finally {
      this.#isReading = false
      if (!this.#abort.signal.aborted) this.#options.onChange()
    }
  }

  /** The first section that the viewport lacks; then one near it. */
  #nextToRead(): number | undefined {
    return this.#lacking(this.#first, this.#last) ?? this.#lacking(this.#first - ahead, this.#last + ahead)
  }

  #lacking(first: number, last: number): number | undefined {
    for (let at = this.#sectionOf(Math.max(0, first)); at < this.#sections.length; at++) {
      if ((this.#starts[at] ?? 0) > last) return undefined
      const section = this.#sections[at]
      if (section?.rows === undefined || section.isStale) return at
    }
    return undefined
  }

  async #read(index: number): Promise<void> {
    const until = index + this.#span
    const mark = (isStale: boolean): void =>
      this.#set(this.#sections.map((one, at) => (at >= index && at < until ? { ...one, isStale } : one)))
    const taken = this.#sections.slice(index, until)
    const [start, end] = [taken[0]?.start, taken.at(-1)?.end]
    mark(false)
    const updates = this.#updates
    try {
      const before = this.#starts[index] ?? 0
      const page = await this.#options.read({ start, end, limit: pageMax, before }, this.#abort.signal)
      if (this.#updates !== updates) return mark(true)
      // An invalidation while it was under way.
      const isStale = this.#sections.slice(index, until).some((one) => one.isStale)
      this.#replace(index, taken, page, isStale)
    } catch (error) {
      mark(true)
      throw error
    }
  }

  #replace(index: number, taken: readonly Section<Row>[], { rows, end, hasMore }: Page<Row>, isStale: boolean): void {
    const [from, to] = [taken[0]?.start, taken.at(-1)?.end]
    const known = taken.reduce((sum, { count }) => sum + count, 0)
    const made: Section<Row>[] = []
    // An empty section is left out: the next one begins where it began.
    const isLeftOut = rows.length === 0 && !hasMore && to !== undefined
    if (!isLeftOut) {
      made.push({ start: from, end: hasMore ? end : to, rows, count: rows.length, isStale, wasRead: true })
    }
    if (hasMore) made.push(unread(end, to, to === undefined ? 1 : Math.max(1, known - rows.length)))
    this.#noteFresh(taken, rows)
    this.#keepFirst(index, taken, made)
    const [next, ...rest] = this.#sections.slice(index + taken.length)
    const after = next === undefined ? [] : [isLeftOut ? { ...next, start: from } : next, ...rest]
    this.#set([...this.#sections.slice(0, index), ...made, ...after])
    this.#span = isLeftOut ? this.#span * 2 : 1
  }

  #noteFresh(taken: readonly Section<Row>[], rows: readonly Row[]): void {
    if (taken.some((section) => section.rows === undefined)) return
    const { idOf, stampOf } = this.#options
    const stamps = new Map(taken.flatMap(({ rows: old }) => (old ?? []).map((row) => [idOf(row), stampOf(row)])))
    for (const row of rows) if (stamps.get(idOf(row)) !== stampOf(row)) this.fresh.add(idOf(row))
  }

  /** At the very top new rows push the others down. */
  #keepFirst(index: number, taken: readonly Section<Row>[], made: readonly Section<Row>[]): void {
    const [begin, until] = [this.#starts[index] ?? 0, this.#starts[index + taken.length] ?? this.count]
    if (this.#first === 0 || begin > this.#first) return
    let by = made.reduce((sum, { count }) => sum + count, 0) - (until - begin)
    if (until > this.#first) {
      const row = this.row(this.#first)
      const id = row === undefined ? undefined : this.#options.idOf(row)
      const now = made[0]?.rows?.findIndex((one) => this.#options.idOf(one) === id) ?? -1
      by = now < 0 ? 0 : begin + now - this.#first
    }
    this.shift += by
    this.#first += by
    this.#last += by
  }

  #drop(): void {
    if (this.#sections.filter(({ rows }) => rows !== undefined).length <= keptMax) return
    const middle = this.#sectionOf(Math.floor((this.#first + this.#last) / 2))
    this.#set(
      this.#sections.map((section, at) =>
        Math.abs(at - middle) > keptMax / 4 && section.count > 0 ? { ...section, rows: undefined } : section,
      ),
    )
  }

  #set(sections: readonly Section<Row>[]): void {
    this.#sections = sections
    const starts = [0]
    let sum = 0
    for (const { count } of sections) {
      sum += count
      starts.push(sum)
    }
    this.#starts = starts
  }

  /** The section that has a row; the last one for rows beyond the end. */
  #sectionOf(row: number): number {
    return lowerBound(this.#sections.length - 1, (at) => (this.#starts[at + 1] ?? 0) <= row)
  }
}

function unread<Row>(start: string | undefined, end: string | undefined, count: number): Section<Row> {
  return { start, end, rows: undefined, count, isStale: false, wasRead: false }
}
