/** All that is computed for one picture, its words, and what the keyboard does with cursor, marked part and zoom. */
import type { Window } from '../../model/heat-plane.ts'
import { placeWords } from '../../model/heat-words.ts'
import { timeWords } from '../../model/numbers.ts'
import { layoutOf, type Mark, marksOf, xOf, yOf } from './draw.ts'
import type { Source } from './recordings.ts'
import { type Heat, windowOf, zoomed } from './view.ts'

export interface PictureProps extends Heat {
  readonly source: Source
  readonly table: string
  readonly target: Target | undefined
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

export type PictureModel = ReturnType<typeof modelOf>

const markReach = 8

export function modelOf(props: PictureProps, width: number) {
  const { recordings, source, table, tables, metric, view } = props
  const layout = layoutOf(width, tables.length === 1 ? 440 : tables.length === 2 ? 300 : 220)
  const axis = recordings.axisOf(table)
  const window = windowOf(recordings.endOf(source), view.ages, axis, view.keys.get(table))
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

export interface Cursor {
  readonly cursor: Point | undefined
  readonly corner: Point | undefined
}

interface KeyResult extends Cursor {
  readonly zoom?: Window | 'all' | undefined
}

type Shape = Pick<PictureModel, 'window' | 'layout' | 'axis'>

export function pointAt(x: number, y: number, { window, layout }: Shape): Point {
  const { fromMs, toMs, fromRow, toRow } = window
  const row = Math.floor(fromRow + (y / layout.plotHeight) * (toRow - fromRow))
  return {
    ms: fromMs + clamp((x - layout.left) / layout.plotWidth, 0, 0.9999) * (toMs - fromMs),
    row: clamp(row, Math.floor(fromRow), Math.ceil(toRow) - 1),
  }
}

export function rectOf(a: Point, b: Point): Window {
  return {
    fromMs: Math.min(a.ms, b.ms),
    toMs: Math.max(a.ms, b.ms),
    fromRow: Math.min(a.row, b.row),
    toRow: Math.max(a.row, b.row) + 1,
  }
}

const moves: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [-1e9, 0],
  End: [1e9, 0],
}

export function keyAction(event: KeyboardEvent, model: Shape, { cursor, corner }: Cursor): KeyResult | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined
  const { window, layout, axis } = model
  const stepMs = Math.max(1000, (window.toMs - window.fromMs) / layout.plotWidth)
  const at = cursor ?? { ms: window.toMs - stepMs / 2, row: Math.floor((window.fromRow + window.toRow) / 2) }
  const move = moves[event.key]
  if (move !== undefined) {
    const stepRows = Math.max(1, Math.round((window.toRow - window.fromRow) / layout.plotHeight))
    const lastRow = Math.min(axis.count, Math.ceil(window.toRow)) - 1
    const moved = {
      ms: clamp(at.ms + move[0] * stepMs, window.fromMs + stepMs / 2, window.toMs - stepMs / 2),
      row: clamp(at.row + move[1] * stepRows, Math.floor(window.fromRow), lastRow),
    }
    return { cursor: cursor === undefined ? at : moved, corner: event.shiftKey ? (corner ?? at) : undefined }
  }
  const nearer = zoomed(window, at, 0.5)
  const marked = corner === undefined ? nearer : rectOf(at, corner)
  const zooms = new Map<string, KeyResult['zoom']>([
    ['Enter', marked === nearer ? nearer : { ...marked, toMs: marked.toMs + stepMs }],
    ['+', nearer],
    ['-', zoomed(window, at, 2)],
    ['0', 'all'],
    ['Escape', undefined],
  ])
  if (!zooms.has(event.key)) return undefined
  const zoom = zooms.get(event.key)
  return { cursor: zoom === 'all' ? undefined : at, corner: undefined, zoom }
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)
