/** All that is computed for one picture, and its words. */
import type { HeatAxis } from '../../model/heat-axis.ts'
import type { Metric, Plane, Window } from '../../model/heat-plane.ts'
import type { TabletSpan } from '../../model/heat-tablets.ts'
import { placeWords, timeWords } from '../../model/heat-words.ts'
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
  const { layout, window, axis, spans, marks } = model
  const [x, y] = [xOf(layout, window, point.ms), yOf(layout, window, point.row + 0.5)]
  const near = nearest(marks, x, y)
  const cell = placeWords({ recording: source.recording, table, axis, spans, ...point }, metric)
  return near === undefined ? cell : `${timeWords(near.event.atMs)} · ${near.event.words} · ${cell}`
}

function nearest(marks: readonly Mark[], x: number, y: number): Mark | undefined {
  let best: Mark | undefined
  let least = markReach
  for (const mark of marks) {
    const distance = Math.hypot(mark.x - x, mark.y - y)
    if (distance < least) [best, least] = [mark, distance]
  }
  return best
}
