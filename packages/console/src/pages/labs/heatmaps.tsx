/**
 * Heatmaps of the arms on one time axis and one scale of colours: key ranges downwards, time to the right, lighter is hotter. Marks below a
 * map are splits, moves and refused splits.
 *
 * A part of the time is chosen by dragging over a map, or by buttons; it holds for all maps, as the brightness does.
 */
import type { ComparedHeatmaps, Heatmap } from '@sixtables/bench'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { HeatBar } from '../../components/heat-bar.tsx'
import { useWidth } from '../../components/hooks.ts'
import { FoldedTable } from '../../components/table.tsx'
import { colourOf, fitting, themeEpoch } from '../../components/theme-colours.ts'
import { cssColour } from '../../model/heat-scale.ts'
import { inWords } from '../../model/numbers.ts'

export function Heatmaps({ heatmaps }: { readonly heatmaps: ComparedHeatmaps }) {
  const { title, unit, scale, maps, from, to, time } = heatmaps
  const [span, setSpan] = useState<Span>({ from, to })
  const [brightness, setBrightness] = useState(1)
  const isWhole = span.from === from && span.to === to
  const zoom = (times: number): void => setSpan(aroundMiddle(span, times, { from, to }))
  return (
    <section class="heatmaps" aria-label={title}>
      <h3>
        {title} <span class="muted light">{unit}</span>
      </h3>
      <HeatBar marks={scale.map(({ share, value }) => ({ share, words: inWords(value / brightness) }))} />
      <p class="row wrap map-tools">
        <label>
          Brightness{' '}
          <input
            type="range"
            min={0}
            max={6}
            step={0.5}
            aria-valuetext={`${inWords(brightness)} times`}
            value={Math.log2(brightness)}
            onInput={(event) => setBrightness(2 ** Number(event.currentTarget.value))}
          />
        </label>
        <Button label="Zoom in" onClick={() => zoom(0.5)} />
        <Button label="Zoom out" disabled={isWhole} onClick={() => zoom(2)} />
        <Button label="Whole time" disabled={isWhole} onClick={() => setSpan({ from, to })} />
        <span class="muted">
          {inTime(span.from)} to {inTime(span.to)} {time}
        </span>
      </p>
      <div class="stack gap-4 my-3 fill-400">
        {maps.map((map) => (
          <HeatmapView key={map.arm} {...{ ...map, ...span, unit, brightness }} onSpan={setSpan} />
        ))}
      </div>
    </section>
  )
}

interface Span {
  readonly from: number
  readonly to: number
}

type MapOfArm = ComparedHeatmaps['maps'][number]

interface HeatmapProps extends Span, MapOfArm {
  readonly unit: string
  /** A rate looks as hot as one so many times as high. */
  readonly brightness: number
  readonly onSpan: (span: Span) => void
}

const inTime = (at: number): string => inWords(Number(at.toPrecision(3)))

function aroundMiddle({ from, to }: Span, times: number, within: Span): Span {
  const half = ((to - from) * times) / 2
  const middle = (from + to) / 2
  return { from: Math.max(within.from, middle - half), to: Math.min(within.to, middle + half) }
}

const [mapHeight, eventHeight, footHeight] = [256, 12, 18]

function HeatmapView(props: HeatmapProps) {
  const { arm, heatmap } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const [pointed, setPointed] = useState<{ x: number; y: number; words: string } | undefined>(undefined)
  const dragged = useRef<number | undefined>(undefined)
  const figure = useRef<HTMLElement>(null)
  const width = useWidth(figure, 0)
  const theme = themeEpoch.value
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, width, props)
  }, [width, theme, heatmap, props.from, props.to, props.brightness])
  return (
    <figure ref={figure} class="heatmap relative">
      <figcaption class="mb-1 strong">{arm}</figcaption>
      <canvas
        ref={canvas}
        class="block"
        style={{ maxWidth: '100%' }}
        role="img"
        aria-label={`${arm}: heat of ${heatmap.rows.length} key ranges from ${inTime(props.from)} to ${inTime(props.to)} ${heatmap.time}, ${heatmap.events.length} splits, moves and refusals; the values are in the table below`}
        onPointerDown={({ currentTarget, pointerId, offsetX }) => {
          // The end of a drag is known wherever the pointer is by then.
          currentTarget.setPointerCapture(pointerId)
          dragged.current = offsetX
        }}
        onPointerUp={({ offsetX }) => {
          const span = spanOf(dragged.current ?? offsetX, offsetX, width, props)
          dragged.current = undefined
          if (span !== undefined) props.onSpan(span)
        }}
        onMouseMove={({ offsetX: x, offsetY: y }) => {
          const words = wordsAt(x, y, width, props)
          setPointed(words === '' ? undefined : { x, y, words })
        }}
        onMouseLeave={() => setPointed(undefined)}
      />
      {pointed !== undefined && (
        <span
          class="tip box absolute ghost shadow small breaks"
          style={{
            top: `${pointed.y + 44}px`,
            ...(pointed.x > width / 2 ? { right: `${width - pointed.x}px` } : { left: `${pointed.x}px` }),
          }}
        >
          {pointed.words}
        </span>
      )}
      <p class="small m-0 cut muted">{heatmap.events.length} splits, moves and refused splits</p>
      <FoldedTable summary="Values" label="Values of the heatmap" table={() => tableOf(heatmap)} />
    </figure>
  )
}

/** The time between two places, if they are far enough apart. */
function spanOf(one: number, other: number, width: number, props: HeatmapProps): Span | undefined {
  const { left } = axisOf(width, props)
  const { from, to } = props
  const timeAt = (x: number): number => from + (Math.max(0, x - left) / (width - left)) * (to - from)
  const [start, end] = [Math.min(one, other), Math.max(one, other)]
  return end - start < 8 || end <= left ? undefined : { from: timeAt(start), to: Math.min(to, timeAt(end)) }
}

const columnsMax = 10

/** The greatest value of each tenth of the time. */
function tableOf({ columns, rows, time }: Heatmap) {
  const step = Math.max(1, Math.ceil(columns.length / columnsMax))
  const starts = columns.filter((_, i) => i % step === 0)
  return {
    columns: ['Key range', ...starts.map((start) => `${inTime(start)} ${time}`)],
    rows: rows.map(({ label, values }) => ({
      key: label,
      figures: starts.map((_, i) => inWords(Math.max(...values.slice(i * step, (i + 1) * step)))),
    })),
  }
}

function axisOf(width: number, { heatmap: { columns, rows }, from, to }: HeatmapProps) {
  const left = Math.min(150, Math.round(width * 0.34))
  const xOf = (at: number): number => left + ((at - from) / (to - from || 1)) * (width - left)
  const startOf = (column: number): number => columns[column] ?? to
  const step = startOf(1) - startOf(0) || to - from
  const endOf = (column: number): number => columns[column + 1] ?? startOf(column) + step
  return { left, xOf, startOf, endOf, cellHeight: mapHeight / Math.max(1, rows.length) }
}

function draw(canvas: HTMLCanvasElement, width: number, props: HeatmapProps): void {
  const { heatmap, shares, from, to, brightness } = props
  const { left, xOf, startOf, endOf, cellHeight } = axisOf(width, props)
  const pen = penOn(canvas, width, mapHeight + eventHeight + footHeight)
  if (pen === null) return
  const ink = colourOf('--text', canvas.parentElement ?? document.body)
  const stride = Math.ceil(13 / cellHeight)
  heatmap.rows.forEach(({ label }, r) => {
    shares[r]?.forEach((share, c) => {
      // A share is the square root of a rate.
      pen.fillStyle = cssColour(Math.min(1, share * Math.sqrt(brightness)))
      // Whole pixels: neighbours leave no seam.
      const [start = 0, end = 0] = [startOf(c), endOf(c)].map((at) =>
        Math.round(Math.min(width, Math.max(left, xOf(at)))),
      )
      const [top, bottom] = [Math.round(r * cellHeight), Math.round((r + 1) * cellHeight)]
      pen.fillRect(start, top, end - start, bottom - top)
    })
    if (r % stride !== 0) return
    pen.fillStyle = ink
    pen.fillText(fitting(pen, label, left - 6), 0, r * cellHeight + Math.min(11, cellHeight))
  })
  pen.fillStyle = colourOf('--series-2', canvas.parentElement ?? document.body)
  const seen = heatmap.events.filter(({ at }) => at >= from && at <= to)
  for (const { at } of seen) pen.fillRect(xOf(at), mapHeight + 2, 1, eventHeight - 2)
  pen.fillStyle = ink
  for (const share of [0, 0.5, 1]) {
    const at = from + (to - from) * share
    const words = `${inTime(at)} ${heatmap.time}`
    pen.fillText(words, xOf(at) - pen.measureText(words).width * share, mapHeight + eventHeight + 13)
  }
}

function penOn(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const scale = window.devicePixelRatio || 1
  canvas.width = width * scale
  canvas.height = height * scale
  canvas.style.width = `${width}px`
  canvas.style.height = `${height}px`
  const pen = canvas.getContext('2d')
  if (pen === null) return null
  pen.scale(scale, scale)
  pen.font = '11px ui-monospace, monospace'
  return pen
}

function wordsAt(x: number, y: number, width: number, props: HeatmapProps): string {
  const { heatmap } = props
  const { left, xOf, startOf, endOf, cellHeight } = axisOf(width, props)
  if (x < left) return heatmap.rows[Math.floor(y / cellHeight)]?.label ?? ''
  if (y > mapHeight) {
    const near = heatmap.events
      .map((event) => ({ event, distance: Math.abs(xOf(event.at) - x) }))
      .sort((a, b) => a.distance - b.distance)[0]
    return near === undefined || near.distance > 5
      ? ''
      : `${inTime(near.event.at)} ${heatmap.time}: ${near.event.words}`
  }
  const column = heatmap.columns.findIndex((_, c) => x >= xOf(startOf(c)) && x < xOf(endOf(c)))
  const row = heatmap.rows[Math.floor(y / cellHeight)]
  const value = row?.values[column]
  return row === undefined || value === undefined
    ? ''
    : `${row.label}, ${inTime(startOf(column))} ${heatmap.time}: ${inWords(value)} ${props.unit}`
}
