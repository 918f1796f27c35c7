/**
 * Makes an answer from a stream of rows: skips the offset, collects results up to the window's end, and reports where and why
 * it stopped (executor/window.ts).
 *
 * Entities are read last, and only for results in the answer; if the store answers by promise, a batch of them in parallel.
 */
import { decodePath } from '../encoding/key-codec.ts'
import { andThen, type MaybePromise, type Steps, waitFor } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Key } from '../model/key.ts'
import type { MoreResults, ResultType } from '../model/query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { propertiesBytes, StoredImage } from '../tables/entities.ts'
import { cursorBytes, cursorHead, encodeCursor, isBehind } from './cursor.ts'
import { columnOffset } from './position.ts'
import { projectRow } from './project.ts'
import { type Execution, type PositionedRow, type RowStream, readEntity } from './row-stream.ts'
import type { Window } from './window.ts'

export interface PageResult {
  readonly key: Key
  /** Only in full results. */
  readonly image?: EntityImage
  /** Only in projections: `properties` fields of an Entity. */
  readonly projected?: Uint8Array
  /** The place just after this result. */
  readonly cursor: Uint8Array
}

export interface ResultPage {
  readonly resultType: ResultType
  readonly results: readonly PageResult[]
  readonly skipped: number
  /** The place just after the last skipped result; absent if none was skipped. */
  readonly skippedCursor?: Uint8Array
  readonly endCursor: Uint8Array
  readonly moreResults: MoreResults
}

const firstBatch = 64
const batchMax = 1024
/** Bytes for versions, times and field heads of a result. */
const resultOverheadBytes = 112

type Images = readonly (EntityImage | undefined)[]

const noImages: Images = []

export class PageRun {
  readonly #execution: Execution
  readonly #stream: RowStream
  readonly #plan: Plan
  readonly #window: Window
  readonly #cursorHead: string
  readonly #overheadBytes: number
  readonly #resultsMax: number
  readonly #results: PageResult[] = []
  #bytes = 0
  #skipped = 0
  #lastSkipped: string | undefined
  /** The position of the last row that was skipped or given. */
  #last: string | undefined

  constructor(execution: Execution, stream: RowStream, window: Window) {
    const { plan } = execution
    this.#execution = execution
    this.#stream = stream
    this.#plan = plan
    this.#window = window
    this.#cursorHead = cursorHead(plan)
    this.#resultsMax = Math.min(window.limit ?? window.resultsMax, window.resultsMax)
    this.#overheadBytes = resultOverheadBytes + plan.partitionCode.length
  }

  *steps(): Steps<ResultPage> {
    const { offset, limit, end, skippedMax } = this.#window
    const isFull = this.#plan.resultType === 'full'
    let batch = firstBatch
    for (;;) {
      if (limit === 0 && this.#skipped >= offset) return this.#finish('moreResultsAfterLimit')
      // One row more than needed, to see whether more follow, and larger batches with time.
      const wanted =
        offset > skippedMax
          ? skippedMax - this.#skipped
          : offset - this.#skipped + this.#resultsMax - this.#results.length
      const rows = yield* waitFor(this.#stream.next(Math.min(wanted + 1, batch)))
      batch = Math.min(batch * 2, batchMax)
      if (rows.length === 0) return this.#finish('noMoreResults')
      let images = noImages
      for (let at = 0; at < rows.length; at++) {
        const row = rows[at] as PositionedRow
        if (limit === 0 && this.#skipped >= offset) return this.#finish('moreResultsAfterLimit')
        if (end !== undefined && isBehind(this.#plan, row.position, end)) return this.#finish('moreResultsAfterCursor')
        if (this.#skipped < offset) {
          if (this.#skipped >= skippedMax) return this.#finish('notFinished')
          this.#skipped++
          this.#lastSkipped = row.position
          this.#last = row.position
          continue
        }
        const given = this.#results.length
        if (given >= this.#resultsMax) return this.#finish(given === limit ? 'moreResultsAfterLimit' : 'notFinished')
        let image = !isFull ? undefined : at < images.length ? images[at] : readImage(this.#execution, row)
        if (image instanceof Promise) {
          images = yield* waitFor(this.#readAhead(rows, at, image))
          image = images[at]
        }
        if (!this.#give(row, image)) return this.#finish('notFinished')
      }
    }
  }

  /** The images of the rows from `at` on that this answer may contain, each at the place of its row. */
  #readAhead(rows: readonly PositionedRow[], at: number, first: Promise<EntityImage | undefined>): Promise<Images> {
    const some = rows.slice(0, at + this.#resultsMax - this.#results.length)
    const imageOf = (row: PositionedRow) => readImage(this.#execution, row)
    return Promise.all(some.map((row, i) => (i < at ? undefined : i === at ? first : imageOf(row))))
  }

  /** Adds the row's result, or skips it if its entity is gone. Returns false if the answer is full. */
  #give(row: PositionedRow, image: EntityImage | undefined): boolean {
    const { resultType, columns, partition } = this.#plan
    const { position } = row
    if (resultType !== 'full' || image !== undefined) {
      const projected = resultType === 'projection' ? projectRow(this.#plan, row) : undefined
      // The position counts twice: for the key's path and for the cursor.
      const bytes =
        this.#overheadBytes +
        2 * position.length +
        (image === undefined ? 0 : propertiesBytes(image)) +
        (projected?.length ?? 0)
      if (this.#results.length > 0 && this.#bytes + bytes > this.#window.resultBytesMax) return false
      this.#bytes += bytes
      const { path } = decodePath(position, columnOffset(columns, position, columns.length))
      const cursor = cursorBytes(this.#cursorHead, position)
      const key: Key = { partition, path }
      if (image !== undefined) this.#results.push({ key, image, cursor })
      else if (projected !== undefined) this.#results.push({ key, projected, cursor })
      else this.#results.push({ key, cursor })
    }
    this.#last = position
    return true
  }

  #finish(why: MoreResults): ResultPage {
    const { resultType } = this.#plan
    const { limit, saysLimit } = this.#window
    const moreResults = saysLimit && this.#results.length === limit ? 'moreResultsAfterLimit' : why
    const skippedCursor = this.#lastSkipped === undefined ? undefined : cursorBytes(this.#cursorHead, this.#lastSkipped)
    const endCursor =
      this.#last === undefined
        ? encodeCursor(this.#plan, this.#window.start)
        : cursorBytes(this.#cursorHead, this.#last)
    const page = { resultType, results: this.#results, skipped: this.#skipped, endCursor, moreResults }
    return skippedCursor === undefined ? page : { ...page, skippedCursor }
  }
}

/** The entity of a row; `undefined` if it is gone. */
export function readImage(execution: Execution, row: PositionedRow): MaybePromise<EntityImage | undefined> {
  if (row.image !== undefined) return row.image
  // Without a kind the rows are those of Entities.
  if (execution.plan.kind === undefined) return new StoredImage(row.cell)
  return andThen(readEntity(execution, row), (bytes) => (bytes === undefined ? undefined : new StoredImage(bytes)))
}
