/**
 * One picture of heat on a canvas: brackets and keys at the left, load, tablet borders and marks, time below.
 *
 *   ┌ gutter ┬──────────── plot ───────────┐
 *   │ levels │ pixels, borders, marks      │
 *   └────────┴──────────── times ──────────┘
 */
import type { TabletEvent } from '@sixtables/engine'
import { colourOf, fitting } from '../../components/theme-colours.ts'
import { type Bracket, bracketsOf, type HeatAxis } from '../../model/heat-axis.ts'
import { type Plane, pixelsOf, type Window } from '../../model/heat-plane.ts'
import { colourPixels } from '../../model/heat-scale.ts'
import type { TabletSpan } from '../../model/heat-tablets.ts'
import { timeWords } from '../../model/numbers.ts'

type Layout = ReturnType<typeof layoutOf>

export const footHeight = 20
const rightWidth = 24
const bracketWidth = 15
const brackets = 3
const rowLabelStep = 15

export function layoutOf(width: number, height: number) {
  const left = Math.min(230, Math.round(width * 0.27))
  return { width, height, left, plotWidth: width - left - rightWidth, plotHeight: height - footHeight }
}

export type PictureInk = ReturnType<typeof inkOf>

export function inkOf(element: HTMLElement) {
  const of = (token: string): string => colourOf(token, element.parentElement ?? element)
  return { text: of('--text'), text2: of('--text-2'), ground: of('--page'), ground2: of('--ground-3') }
}

interface PictureParts {
  readonly layout: Layout
  readonly plane: Plane
  readonly axis: HeatAxis
  readonly window: Window
  readonly most: number
  /** Empty: no borders. */
  readonly spans: readonly TabletSpan[]
  readonly marks: readonly Mark[]
  readonly ink: PictureInk
}

/** An event at its place in the plot, in CSS pixels. */
export interface Mark {
  readonly x: number
  readonly y: number
  readonly event: TabletEvent
}

export const xOf = ({ left, plotWidth }: Layout, { fromMs, toMs }: Window, ms: number): number =>
  left + ((ms - fromMs) / (toMs - fromMs)) * plotWidth
export const yOf = ({ plotHeight }: Layout, { fromRow, toRow }: Window, row: number): number =>
  ((row - fromRow) / (toRow - fromRow)) * plotHeight

/** Where events of a window are drawn: splits and merges at their bound, others in the middle of their tablet. */
export function marksOf(
  events: readonly TabletEvent[],
  axis: HeatAxis,
  layout: Layout,
  window: Window,
): readonly Mark[] {
  return events
    .filter(({ atMs }) => atMs >= window.fromMs && atMs <= window.toMs)
    .map((event) => ({ event, x: xOf(layout, window, event.atMs), y: yOf(layout, window, rowOfEvent(event, axis)) }))
    .filter(({ y }) => y >= 0 && y <= layout.plotHeight)
}

function rowOfEvent({ atHex, startHex, endHex }: TabletEvent, axis: HeatAxis): number {
  if (atHex !== undefined) return axis.rowOfHex(atHex)
  const last = endHex === '' ? axis.count : axis.rowOfHex(endHex)
  return Math.floor((axis.rowOfHex(startHex) + last) / 2)
}

/** Reused from frame to frame: a picture is half a million pixels. */
const scratch = { pixels: new Float32Array(0), image: undefined as ImageData | undefined }
let offscreen: HTMLCanvasElement | undefined

export function drawPicture(pen: CanvasRenderingContext2D, parts: PictureParts): void {
  const { layout, ink } = parts
  const { width, height, left, plotWidth, plotHeight } = layout
  pen.fillStyle = ink.ground
  pen.fillRect(0, 0, width, height)
  pen.fillStyle = ink.ground2
  pen.fillRect(left, 0, plotWidth, plotHeight)
  drawLoad(pen, parts)
  pen.save()
  pen.beginPath()
  pen.rect(left, 0, plotWidth, plotHeight)
  pen.clip()
  drawBorders(pen, parts)
  for (const mark of parts.marks) drawMark(pen, mark)
  pen.restore()
  drawKeys(pen, parts)
  drawTimes(pen, parts)
}

function drawLoad(pen: CanvasRenderingContext2D, { layout, plane, window, most }: PictureParts): void {
  const [width, height] = [Math.max(1, Math.round(layout.plotWidth)), Math.max(1, Math.round(layout.plotHeight))]
  if (scratch.pixels.length !== width * height) scratch.pixels = new Float32Array(width * height)
  if (scratch.image?.width !== width || scratch.image.height !== height) scratch.image = new ImageData(width, height)
  pixelsOf(plane, window, width, height, scratch.pixels)
  colourPixels(scratch.pixels, most, new Uint32Array(scratch.image.data.buffer))
  offscreen ??= document.createElement('canvas')
  if (offscreen.width !== width) offscreen.width = width
  if (offscreen.height !== height) offscreen.height = height
  offscreen.getContext('2d')?.putImageData(scratch.image, 0, 0)
  pen.imageSmoothingEnabled = false
  pen.drawImage(offscreen, layout.left, 0, layout.plotWidth, layout.plotHeight)
}

function drawBorders(pen: CanvasRenderingContext2D, { layout, axis, window, spans }: PictureParts): void {
  // Dark below light: one of the two is seen on every colour of the scale.
  for (const [style, offset] of [
    ['rgb(0 0 0 / 65%)', 1],
    ['rgb(255 255 255 / 80%)', 0],
  ] as const) {
    pen.strokeStyle = style
    pen.lineWidth = 1
    pen.beginPath()
    for (const { startHex, fromMs, toMs } of spans) {
      if (startHex === '' || toMs < window.fromMs || fromMs > window.toMs) continue
      const y = Math.round(yOf(layout, window, axis.rowOfHex(startHex))) + offset - 0.5
      pen.moveTo(xOf(layout, window, Math.max(fromMs, window.fromMs)), y)
      pen.lineTo(xOf(layout, window, Math.min(toMs, window.toMs)), y)
    }
    pen.stroke()
  }
}

/** A shape for each kind of event, as a path around its place. */
export const shapes: Readonly<Record<TabletEvent['kind'], string>> = {
  split: 'M-5-1 0-6 5-1Z M-5 1 0 6 5 1Z',
  'split-refused': 'M-4-4 4 4 M-4 4 4-4',
  merge: 'M-5-6 0-1 5-6Z M-5 6 0 1 5 6Z',
  move: 'M-5 0 5 0 M1-4 5 0 1 4',
  compaction: 'M-4-4 4-4 4 4-4 4Z',
}

function drawMark(pen: CanvasRenderingContext2D, { x, y, event }: Mark): void {
  const path = new Path2D(shapes[event.kind])
  pen.save()
  pen.translate(x, y)
  for (const [style, width] of [
    ['#000000', 5],
    ['#ffffff', 2],
  ] as const) {
    pen.strokeStyle = style
    pen.lineWidth = width
    pen.stroke(path)
  }
  pen.restore()
}

const font = '11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'

function drawKeys(pen: CanvasRenderingContext2D, { layout, axis, window, ink }: PictureParts): void {
  const levels = bracketsOf(axis.count, (row) => axis.boundAt(row).levels)
  pen.font = font
  for (const [level, all] of levels.entries())
    for (const one of all) drawBracket(pen, one, level, { layout, window, ink })
  pen.fillStyle = ink.text2
  pen.textBaseline = 'top'
  const from = brackets * bracketWidth + 4
  let nextY = 0
  for (let row = Math.max(0, Math.floor(window.fromRow)); row < Math.min(axis.count, window.toRow); row++) {
    const y = Math.max(0, yOf(layout, window, row))
    if (y < nextY || y > layout.plotHeight - 11) continue
    const label = keyLabel(axis.boundAt(row).levels[3] ?? (row === 0 ? '(first key)' : ''))
    if (label === '') continue
    pen.fillText(fitting(pen, label, layout.left - from - 6), from, y + 1)
    nextY = y + rowLabelStep
  }
}

function drawBracket(
  pen: CanvasRenderingContext2D,
  { label, fromRow, toRow }: Bracket,
  level: number,
  { layout, window, ink }: Pick<PictureParts, 'layout' | 'window' | 'ink'>,
): void {
  if (label === '') return
  const from = Math.max(0, yOf(layout, window, fromRow))
  const to = Math.min(layout.plotHeight, yOf(layout, window, toRow))
  if (to <= from) return
  const x = level * bracketWidth + bracketWidth - 2.5
  pen.strokeStyle = ink.text2
  pen.lineWidth = 1
  pen.stroke(new Path2D(`M${x + 2} ${from + 0.5}H${x}V${to - 0.5}H${x + 2}`))
  if (to - from < 14) return
  pen.save()
  pen.translate(level * bracketWidth + 1, to - 2)
  pen.rotate(-Math.PI / 2)
  pen.textBaseline = 'top'
  pen.fillStyle = ink.text
  pen.fillText(fitting(pen, label, to - from - 4), 0, 0)
  pen.restore()
}

function drawTimes(pen: CanvasRenderingContext2D, { layout, window, ink }: PictureParts): void {
  const { left, plotWidth, plotHeight } = layout
  pen.font = font
  pen.textBaseline = 'top'
  pen.fillStyle = ink.text2
  const stepMs = timeStep(window.toMs - window.fromMs, plotWidth / 90)
  for (let ms = Math.ceil(window.fromMs / stepMs) * stepMs; ms <= window.toMs; ms += stepMs) {
    const x = xOf(layout, window, ms)
    pen.fillRect(Math.round(x), plotHeight, 1, 4)
    const words = timeWords(ms)
    const wide = pen.measureText(words).width
    pen.fillText(words, Math.min(Math.max(left, x - wide / 2), left + plotWidth - wide), plotHeight + 6)
  }
}

/** Without the version of a record of the log. */
const keyLabel = (rest: string): string => rest.replace(/ › \d{16}$/, '')

/** The shortest round step of which there are at most so many. */
function timeStep(spanMs: number, most: number): number {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400]
  return (steps.find((seconds) => spanMs / (seconds * 1000) <= Math.max(2, most)) ?? 86_400) * 1000
}
