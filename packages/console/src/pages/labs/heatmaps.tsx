/**
 * Heatmaps of the arms on one time axis and one scale of colours: key ranges downwards, time to the right, lighter is hotter. Marks below a
 * map are splits, moves and refused splits.
 */

import type { DrawableHeatmaps, Heatmap } from '@sixtables/bench'
import { useEffect, useRef, useState } from 'preact/hooks'
import { FigureTable, Scroll } from '../../components/table.tsx'
import { colourOf, themeEpoch } from '../../components/theme-colours.ts'
import { cssColour, heatGradient } from '../../model/heat-scale.ts'
import { inWords } from '../../model/numbers.ts'

export function Heatmaps({ heatmaps }: { readonly heatmaps: DrawableHeatmaps }) {
  const { title, unit, scale, maps } = heatmaps
  return (
    <section class="heatmaps" aria-label={title}>
      <h3>
        {title} <span class="muted">{unit}</span>
      </h3>
      <div class="heat-scale" role="img" aria-label={`Colours from 0 to ${inWords(scale.at(-1)?.value ?? 0)} ${unit}`}>
        <div class="heat-scale-bar" style={{ background: heatGradient }} />
        <div class="heat-scale-marks">
          {scale.map(({ share, value }) => (
            <span key={share} style={{ left: `${share * 100}%` }}>
              {inWords(value)}
            </span>
          ))}
        </div>
      </div>
      <div class="heatmap-grid">
        {maps.map((map) => (
          <HeatmapView key={map.arm} {...map} from={heatmaps.from} to={heatmaps.to} />
        ))}
      </div>
    </section>
  )
}

interface HeatmapProps {
  readonly arm: string
  readonly heatmap: Heatmap
  readonly shares: readonly (readonly number[])[]
  readonly from: number
  readonly to: number
}

const [mapHeight, eventHeight, footHeight] = [256, 12, 18]

function HeatmapView(props: HeatmapProps) {
  const { arm, heatmap } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const [pointed, setPointed] = useState('')
  const [width, setWidth] = useState(0)
  const theme = themeEpoch.value
  useEffect(() => {
    const element = canvas.current?.parentElement
    if (element == null) return
    const sized = new ResizeObserver(() => setWidth(element.clientWidth))
    sized.observe(element)
    return () => sized.disconnect()
  }, [])
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, width, props)
  }, [width, theme, heatmap])
  return (
    <figure class="heatmap">
      <figcaption>{arm}</figcaption>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${arm}: heat of ${heatmap.rows.length} key ranges from ${inWords(props.from)} s to ${inWords(props.to)} s, ${heatmap.events.length} splits, moves and refusals; the values are in the table below`}
        onMouseMove={(event) => setPointed(wordsAt(event.offsetX, event.offsetY, width, props))}
        onMouseLeave={() => setPointed('')}
      />
      <p class="heatmap-pointed muted">{pointed || `${heatmap.events.length} splits, moves and refused splits`}</p>
      <HeatmapTable heatmap={heatmap} />
    </figure>
  )
}

const columnsMax = 10

/** The greatest value of each tenth of the time. */
function HeatmapTable({ heatmap: { columns, rows } }: { readonly heatmap: Heatmap }) {
  const [isOpen, setOpen] = useState(false)
  const step = Math.max(1, Math.ceil(columns.length / columnsMax))
  const starts = columns.filter((_, i) => i % step === 0)
  return (
    <details class="line-plot-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Values</summary>
      {isOpen && (
        <Scroll label="Values of the heatmap">
          <FigureTable
            columns={['Key range', ...starts.map((start) => `${inWords(start)} s`)]}
            rows={rows.map(({ label, values }) => ({
              key: label,
              figures: starts.map((_, i) => inWords(Math.max(...values.slice(i * step, (i + 1) * step)))),
            }))}
          />
        </Scroll>
      )}
    </details>
  )
}

/** Places on the canvas. */
function axisOf(width: number, { heatmap: { columns, rows }, from, to }: HeatmapProps) {
  const left = Math.min(150, Math.round(width * 0.34))
  const xOf = (at: number): number => left + ((at - from) / (to - from || 1)) * (width - left)
  const startOf = (column: number): number => columns[column] ?? to
  const step = startOf(1) - startOf(0) || to - from
  const endOf = (column: number): number => columns[column + 1] ?? startOf(column) + step
  return { left, xOf, startOf, endOf, cellHeight: mapHeight / Math.max(1, rows.length) }
}

function draw(canvas: HTMLCanvasElement, width: number, props: HeatmapProps): void {
  const { heatmap, shares, from, to } = props
  const { left, xOf, startOf, endOf, cellHeight } = axisOf(width, props)
  const pen = penOn(canvas, width, mapHeight + eventHeight + footHeight)
  if (pen === null) return
  const ink = colourOf('--text', canvas.parentElement ?? document.body)
  const stride = Math.ceil(13 / cellHeight)
  heatmap.rows.forEach(({ label }, r) => {
    shares[r]?.forEach((share, c) => {
      pen.fillStyle = cssColour(share)
      // Whole pixels: neighbours leave no seam.
      const [start, end] = [Math.round(xOf(startOf(c))), Math.round(xOf(endOf(c)))]
      const [top, bottom] = [Math.round(r * cellHeight), Math.round((r + 1) * cellHeight)]
      pen.fillRect(start, top, end - start, bottom - top)
    })
    if (r % stride !== 0) return
    pen.fillStyle = ink
    pen.fillText(fitting(pen, label, left - 6), 0, r * cellHeight + Math.min(11, cellHeight))
  })
  pen.fillStyle = colourOf('--series-2', canvas.parentElement ?? document.body)
  for (const { at } of heatmap.events) pen.fillRect(xOf(at), mapHeight + 2, 1, eventHeight - 2)
  pen.fillStyle = ink
  for (const share of [0, 0.5, 1]) {
    const at = from + (to - from) * share
    const words = `${inWords(Math.round(at))} s`
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

/** Keeps the end, where keys differ. */
function fitting(pen: CanvasRenderingContext2D, words: string, width: number): string {
  let shown = words
  while (shown.length > 2 && pen.measureText(shown).width > width) shown = `…${shown.slice(2)}`
  return shown
}

function wordsAt(x: number, y: number, width: number, props: HeatmapProps): string {
  const { heatmap } = props
  const { xOf, startOf, endOf, cellHeight } = axisOf(width, props)
  if (y > mapHeight) {
    const near = heatmap.events
      .map((event) => ({ event, distance: Math.abs(xOf(event.at) - x) }))
      .sort((a, b) => a.distance - b.distance)[0]
    return near === undefined || near.distance > 5 ? '' : `${inWords(near.event.at)} s: ${near.event.words}`
  }
  const column = heatmap.columns.findIndex((_, c) => x >= xOf(startOf(c)) && x < xOf(endOf(c)))
  const row = heatmap.rows[Math.floor(y / cellHeight)]
  const value = row?.values[column]
  return row === undefined || value === undefined
    ? ''
    : `${row.label}, ${inWords(startOf(column))} s: ${inWords(value)}`
}
