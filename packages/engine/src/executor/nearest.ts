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
import { encodeProperties } from '../encoding/entity-codec.ts'
import { decodePath } from '../encoding/key-codec.ts'
import { cutProperties } from '../encoding/property-mask.ts'
import { lowerBound } from '../lower-bound.ts'
import { allOf, finallyDo, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Plan } from '../planner/plan-node.ts'
import { cursorBytes, cursorHead, encodeCursor, rowsBefore } from './cursor.ts'
import { openResults } from './execute.ts'
import type { NearestPlan } from './nearest-query.ts'
import { distanceFrom } from './nearest-vector.ts'
import { pathIn } from './position.ts'
import { projectRow } from './project.ts'
import { type PageResult, type ResultPage, readImage } from './result-page.ts'
import type { Execution, PositionedRow, RowStream } from './row-stream.ts'
import type { Window } from './window.ts'

/** A vector of 2,048 dimensions takes tens of microseconds (measured, Node 20), a batch of them some milliseconds. */
const batchRows = 64

export function findNearest(execution: Execution, window: Window, nearest: NearestPlan): MaybePromise<ResultPage> {
  const stream = openResults(execution, { bounds: window.bounds, expect: batchRows })
  return finallyDo(
    () => runSteps(nearestSteps(execution, stream, window, nearest)),
    () => stream.close(),
  )
}

interface Candidate {
  readonly distance: number
  readonly path: string
  readonly row: PositionedRow
  readonly image: EntityImage
}

class Nearest {
  readonly kept: Candidate[] = []
  readonly #search: NearestPlan
  readonly #distanceOf: ReturnType<typeof distanceFrom>

  constructor(search: NearestPlan) {
    this.#search = search
    this.#distanceOf = distanceFrom(search.vector, search.property, search.measure)
  }

  offer(path: string, row: PositionedRow, image: EntityImage): void {
    const { limit, threshold } = this.#search
    const distance = this.#distanceOf(image.properties)
    if (distance === undefined) return
    // At the threshold itself an entity still is a result.
    if (threshold !== undefined && distance !== threshold && !this.#isNearer(distance, threshold)) return
    const isFull = this.kept.length === limit
    const last = this.kept.at(-1)
    if (isFull && last !== undefined && this.#isNearer(last.distance, distance)) return
    const candidate = { distance, path, row, image }
    const at = lowerBound(this.kept.length, (i) => this.#isBefore(this.kept[i] as Candidate, candidate))
    this.kept.splice(at, 0, candidate)
    if (isFull) this.kept.pop()
  }

  #isNearer(a: number, b: number): boolean {
    return this.#search.measure === 'dotProduct' ? a > b : a < b
  }

  /** By distance, then by key; the rows of one entity in a projection by position. */
  #isBefore(a: Candidate, b: Candidate): boolean {
    if (a.distance !== b.distance) return this.#isNearer(a.distance, b.distance)
    return a.path === b.path ? a.row.position < b.row.position : a.path < b.path
  }
}

function* nearestSteps(
  execution: Execution,
  stream: RowStream,
  window: Window,
  search: NearestPlan,
): Steps<ResultPage> {
  const { plan } = execution
  const { offset, end, limit = Number.POSITIVE_INFINITY } = window
  const nearest = new Nearest(search)
  let skipped = 0
  let lastSkipped: string | undefined
  let last: string | undefined
  // Results of the base query behind its offset. The limit counts them; a full result without its entity is none.
  let taken = 0
  for (let isOver = false; !isOver && taken < limit; ) {
    const rows = yield* waitFor(stream.next(Math.min(offset - skipped + limit - taken, batchRows)))
    const inWindow = rowsBefore(plan, rows, end)
    isOver = rows.length === 0 || inWindow.length < rows.length
    const wanted = inWindow.slice(offset - skipped)
    skipped += inWindow.length - wanted.length
    if (wanted.length < inWindow.length) lastSkipped = inWindow[inWindow.length - wanted.length - 1]?.position
    last = inWindow.at(-1)?.position ?? last
    const images = yield* waitFor(allOf(wanted, (row) => readImage(execution, row)))
    for (const [i, row] of wanted.entries()) {
      const image = images[i]
      if (image !== undefined || plan.resultType !== 'full') taken++
      if (image !== undefined) nearest.offer(pathIn(plan, row.position), row, image)
    }
  }
  const head = cursorHead(plan)
  const isProjection = plan.resultType === 'keyOnly' && search.distanceProperty !== undefined
  return {
    resultType: isProjection ? 'projection' : plan.resultType,
    results: nearest.kept.map((candidate) => resultOf(plan, search, candidate, head)),
    skipped,
    ...(lastSkipped === undefined ? {} : { skippedCursor: cursorBytes(head, lastSkipped) }),
    endCursor: last === undefined ? encodeCursor(plan, window.start) : cursorBytes(head, last),
    moreResults: 'noMoreResults',
  }
}

function resultOf(
  plan: Plan,
  search: NearestPlan,
  { distance, path, row, image }: Candidate,
  head: string,
): PageResult {
  const key = { partition: plan.partition, path: decodePath(path, 0).path }
  const cursor = cursorBytes(head, row.position)
  const { mask, distanceProperty } = search
  const extra =
    distanceProperty === undefined
      ? []
      : [encodeProperties(new Map([[distanceProperty, { type: 'double', value: distance }]]))]
  if (plan.resultType === 'full') {
    const { version, createTime, updateTime, properties } = image
    const given = mask === undefined ? properties : cutProperties(properties, mask)
    // The last of two properties with one name counts.
    const all = extra.length === 0 ? given : Buffer.concat([given, ...extra])
    return { key, cursor, image: { version, createTime, updateTime, properties: all } }
  }
  const projected = plan.resultType === 'projection' ? [projectRow(plan, row), ...extra] : extra
  return projected.length === 0 ? { key, cursor } : { key, cursor, projected: Buffer.concat(projected) }
}
