/**
 * Vector search: reads every candidate of a query, and keeps the nearest ones.
 *
 *   rows of the base query, in batches ─▶ entities ─▶ distances ─▶ the nearest `limit` ─▶ results, nearest first
 *
 * Cursors, offset and limit of the query select the candidates; the search comes after them. Memory is bounded by `limit`
 * entities and a batch of rows, for any number of candidates. The scans below yield between batches and end with the caller.
 * All results are in one answer, so there is no cursor to continue.
 *
 * NN1  The answer is exact: the beginning of all candidates sorted by (distance, key).   test/property/nearest.test.ts
 *
 * Known: the order of the stages (comments of google.datastore.v1.Query). Ours: equal distances by key; no vector index is
 * needed.
 */
import { Buffer } from 'node:buffer'
import { writeProperty } from '../encoding/entity-codec.ts'
import { decodePath } from '../encoding/key-codec.ts'
import { cutProperties } from '../encoding/property-mask.ts'
import { WireWriter } from '../encoding/wire.ts'
import { lowerBound } from '../lower-bound.ts'
import { allOf, finallyDo, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Plan } from '../planner/plan-node.ts'
import { cursorBytes, cursorHead, encodeCursor, isBehind, rowsBefore } from './cursor.ts'
import { openResults } from './execute.ts'
import type { NearestPlan } from './nearest-query.ts'
import { VectorDistance } from './nearest-vector.ts'
import { pathIn } from './position.ts'
import { projectRow } from './project.ts'
import { type PageResult, type ResultPage, readImage } from './result-page.ts'
import type { Execution, PositionedRow, RowStream } from './row-stream.ts'
import type { Window } from './window.ts'

/** A vector of 2,048 dimensions takes tens of microseconds (measured, Node 20), a batch of them some milliseconds. */
const batchRows = 64

/** The nearest results of `plan` in `window`, as one page. */
export function findNearest(execution: Execution, window: Window, nearest: NearestPlan): MaybePromise<ResultPage> {
  const stream = openResults(execution, { bounds: window.bounds, expect: batchRows })
  return finallyDo(
    () => runSteps(new NearestRun(execution, stream, window, nearest).steps()),
    () => stream.close(),
  )
}

interface Candidate {
  readonly distance: number
  readonly path: string
  readonly row: PositionedRow
  readonly image: EntityImage
}

class NearestRun {
  readonly #execution: Execution
  readonly #stream: RowStream
  readonly #plan: Plan
  readonly #window: Window
  readonly #nearest: NearestPlan
  readonly #distance: VectorDistance
  /** The nearest candidates so far, nearest first. */
  readonly #kept: Candidate[] = []
  readonly #isGreaterNearer: boolean
  #skipped = 0
  #lastSkipped: string | undefined
  #last: string | undefined
  /** Results of the base query behind its offset. */
  #taken = 0

  constructor(execution: Execution, stream: RowStream, window: Window, nearest: NearestPlan) {
    this.#execution = execution
    this.#stream = stream
    this.#plan = execution.plan
    this.#window = window
    this.#nearest = nearest
    this.#distance = new VectorDistance(nearest.property, nearest.vector, nearest.measure)
    this.#isGreaterNearer = nearest.measure === 'dotProduct'
  }

  *steps(): Steps<ResultPage> {
    for (;;) {
      const count = this.#nextCount()
      if (count === 0) return this.#finish()
      const rows = yield* waitFor(this.#stream.next(count))
      const candidates = this.#withoutSkipped(rows)
      const wanted = rowsBefore(this.#plan, candidates, this.#window.end)
      const images = yield* waitFor(allOf(wanted, (row) => readImage(this.#execution, row)))
      for (const [i, row] of wanted.entries()) this.#offer(row, images[i])
      if (rows.length === 0 || wanted.length < candidates.length) return this.#finish()
    }
  }

  #nextCount(): number {
    const { offset, limit } = this.#window
    const left = (limit ?? Number.POSITIVE_INFINITY) - this.#taken
    return left <= 0 ? 0 : Math.min(offset - this.#skipped + left, batchRows)
  }

  #withoutSkipped(rows: readonly PositionedRow[]): readonly PositionedRow[] {
    const { offset, end } = this.#window
    let at = 0
    for (; this.#skipped < offset && at < rows.length; at++) {
      const { position } = rows[at] as PositionedRow
      if (end !== undefined && isBehind(this.#plan, position, end)) break
      this.#skipped++
      this.#lastSkipped = position
      this.#last = position
    }
    return at === 0 ? rows : rows.slice(at)
  }

  #offer(row: PositionedRow, image: EntityImage | undefined): void {
    this.#last = row.position
    // The limit counts results of the base query; a full result without its entity is none.
    if (image !== undefined || this.#plan.resultType !== 'full') this.#taken++
    if (image === undefined) return
    const distance = this.#distance.of(image.properties)
    if (distance === undefined || this.#isTooFar(distance)) return
    const isFull = this.#kept.length === this.#nearest.limit
    const last = this.#kept.at(-1)
    if (isFull && last !== undefined && this.#isNearer(last.distance, distance)) return
    const candidate = { distance, path: pathIn(this.#plan, row.position), row, image }
    const at = lowerBound(this.#kept.length, (i) => this.#isBefore(this.#kept[i] as Candidate, candidate))
    this.#kept.splice(at, 0, candidate)
    if (isFull) this.#kept.pop()
  }

  #isTooFar(distance: number): boolean {
    const { threshold } = this.#nearest
    if (threshold === undefined) return false
    return this.#isGreaterNearer ? !(distance >= threshold) : !(distance <= threshold)
  }

  #isNearer(a: number, b: number): boolean {
    return this.#isGreaterNearer ? a > b : a < b
  }

  /** By distance, then by key; the rows of one entity in a projection by position. */
  #isBefore(a: Candidate, b: Candidate): boolean {
    if (a.distance !== b.distance) return this.#isNearer(a.distance, b.distance)
    return a.path === b.path ? a.row.position < b.row.position : a.path < b.path
  }

  #finish(): ResultPage {
    const { resultType } = this.#plan
    const head = cursorHead(this.#plan)
    const results = this.#kept.map((candidate) => this.#result(candidate, head))
    const endCursor =
      this.#last === undefined ? encodeCursor(this.#plan, this.#window.start) : cursorBytes(head, this.#last)
    const isProjection = resultType === 'keyOnly' && this.#nearest.distanceProperty !== undefined
    return {
      resultType: isProjection ? 'projection' : resultType,
      results,
      skipped: this.#skipped,
      ...(this.#lastSkipped === undefined ? {} : { skippedCursor: cursorBytes(head, this.#lastSkipped) }),
      endCursor,
      moreResults: 'noMoreResults',
    }
  }

  #result({ distance, path, row, image }: Candidate, head: string): PageResult {
    const { resultType, partition } = this.#plan
    const key = { partition, path: decodePath(path, 0).path }
    const cursor = cursorBytes(head, row.position)
    const { mask, distanceProperty } = this.#nearest
    const extra = distanceProperty === undefined ? undefined : distanceField(distanceProperty, distance)
    if (resultType === 'full') {
      const { version, createTime, updateTime, properties } = image
      const given = mask === undefined ? properties : cutProperties(properties, mask)
      // The last of two properties with one name counts.
      return {
        key,
        cursor,
        image: {
          version,
          createTime,
          updateTime,
          properties: extra === undefined ? given : Buffer.concat([given, extra]),
        },
      }
    }
    const projected = resultType === 'projection' ? [projectRow(this.#plan, row)] : []
    if (extra !== undefined) projected.push(extra)
    return projected.length === 0 ? { key, cursor } : { key, cursor, projected: Buffer.concat(projected) }
  }
}

function distanceField(name: string, distance: number): Uint8Array {
  const writer = new WireWriter()
  writeProperty(writer, name, { type: 'double', value: distance })
  return writer.finish()
}
