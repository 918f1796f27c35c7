/** All that is computed for one picture, and its words. */

import type { HeatAxis } from '../../model/heat-axis.ts'
import type { Metric, Plane, Window } from '../../model/heat-plane.ts'
import type { TabletSpan } from '../../model/heat-tablets.ts'
import { placeWords } from '../../model/heat-words.ts'
import { timeWords } from '../../model/numbers.ts'
import { type Layout, type Mark, marksOf, xOf, yOf } from './draw.ts'
import type { Recordings, Source } from './recordings.ts'
import { type Ages, type KeyRange, windowOf } from './view.ts'

export interface PictureProps {
  readonly recordings: Recordings
  readonly source: Source
  readonly table: string
  readonly metric: Metric
  readonly ages: Ages
  readonly keys: KeyRange | undefined
  readonly most: number
  readonly height: number
  readonly hasBorders: boolean
  /** A place that was asked for from a list. */
  readonly target: Target | undefined
  /** To a part, or to everything. */
  readonly onZoom: (window: Window | undefined) => void
  readonly onFinding: (name: string) => void
}

export interface Target {
  readonly ms: number
  readonly hex: string
}

export interface Point {
  readonly ms: number
  readonly row: number
}

export interface PictureModel {
  readonly layout: Layout
  readonly axis: HeatAxis
  readonly spans: readonly TabletSpan[]
  readonly window: Window
  readonly plane: Plane
  readonly marks: readonly Mark[]
}

const markReach = 8

export function modelOf(props: PictureProps, layout: Layout): PictureModel {
  const { recordings, source, table, metric, ages, keys } = props
  const axis = recordings.axisOf(table)
  const window = windowOf(recordings.endOf(source), ages, axis, keys)
  const events = source.recording.events.filter((event) => event.table === table)
  return {
    layout,
    axis,
    window,
    spans: recordings.spansOf(source, table),
    plane: recordings.planeOf(source, table, metric),
    marks: marksOf(events, axis, layout, window),
  }
}

/** The cell of a point, and the mark that is near. */
export function wordsAt(point: Point, { source, table, metric }: PictureProps, model: PictureModel): string {
  const { axis, spans } = model
  const near = nearest(point, model)
  const cell = placeWords({ recording: source.recording, table, axis, spans, ...point }, metric)
  return near === undefined ? cell : `${timeWords(near.event.atMs)} · ${near.event.words} · ${cell}`
}

/** A mark in the row of a point or right beside it, at about its time. */
function nearest({ ms, row }: Point, { layout, window, marks }: PictureModel): Mark | undefined {
  const x = xOf(layout, window, ms)
  const [top, bottom] = [yOf(layout, window, row), yOf(layout, window, row + 1)]
  let best: Mark | undefined
  let least = markReach
  for (const mark of marks) {
    const distance = Math.hypot(mark.x - x, Math.max(0, top - mark.y, mark.y - bottom))
    if (distance < least) [best, least] = [mark, distance]
  }
  return best
}
