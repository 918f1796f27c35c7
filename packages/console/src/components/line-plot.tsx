/**
 * Lines over one x axis, drawn by uPlot, which is loaded when the first plot is shown; and the newest values as a table.
 *
 * Lines are told apart by colour and dashes, and the legend has both.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { inWords, timeWords } from '../model/numbers.ts'
import { useWidth } from './hooks.ts'
import { FoldedTable } from './table.tsx'
import { colourOf, themeEpoch } from './theme-colours.ts'

export interface PlotLine {
  readonly label: string
  /** Place of its colour among the series of the theme; default: its place among the lines. */
  readonly colour?: number
  /** Place of its dashes: 0 is a full line. */
  readonly dash?: number
  /** One for each x: `null` is a gap, `undefined` a place that the line goes over. */
  readonly values: readonly (number | null | undefined)[]
}

interface LinePlotProps {
  readonly title: string
  readonly unit: string
  readonly x: { readonly name: string; readonly values: readonly number[]; readonly isTime?: boolean }
  readonly lines: readonly PlotLine[]
  readonly isLogarithmic?: boolean
  readonly height?: number
  /** Least value at the top of the y axis, so that little noise does not fill the plot. */
  readonly least?: number
}

const colours = 6
const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]]
const tableRowsMax = 100
/** Seconds. */
const timeSpanMin = 60

const colourTokenOf = (place: number): string => `--series-${(place % colours) + 1}`
const colourPlace = (line: PlotLine, i: number): number => line.colour ?? i
const dashOf = (line: PlotLine, i: number): readonly number[] =>
  dashes[(line.dash ?? Math.floor(colourPlace(line, i) / colours)) % dashes.length] ?? []

export function LinePlot(props: LinePlotProps) {
  const { title, unit, x, lines, height = 180 } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const width = useWidth(box, 0)
  const [under, setUnder] = useState<number | null>(null)
  /** Its code could not be loaded, as when the server has just gone. */
  const [isUndrawn, setUndrawn] = useState(false)
  // A plot is made anew when its lines are others, or its colours; new values go into the one there is.
  const shape = JSON.stringify([title, x.name, lines.map(({ label, colour, dash }) => [label, colour, dash]), height])
  const theme = themeEpoch.value
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const gone = new AbortController()
    const draw = ({ default: Plot }: { readonly default: typeof uPlot }): void => {
      if (gone.signal.aborted) return
      const made = new Plot(optionsOf(latest.current, element, setUnder), dataOf(latest.current), element)
      plot.current = made
      gone.signal.addEventListener('abort', () => {
        made.destroy()
        plot.current = undefined
      })
    }
    import('uplot').then(draw, () => setUndrawn(true))
    return () => gone.abort()
  }, [shape, theme])
  useEffect(() => plot.current?.setData(dataOf(props)), [x.values, lines])
  useLayoutEffect(() => plot.current?.setSize({ width, height }), [width])
  return (
    <figure class="panel line-plot">
      <figcaption class="strong">
        {title} <span class="muted light">{unit}</span>
      </figcaption>
      <ul class="line-plot-legend wrap small">
        {lines.map((line, i) => (
          <li key={line.label} class="row gap-1">
            <LineMark line={line} place={i} />
            <bdi>{line.label}</bdi>
            <span class="muted" style={{ minWidth: '4ch' }}>
              {valueWords(line.values[under ?? line.values.length - 1])}
            </span>
          </li>
        ))}
        {lines.length === 0 && <li class="muted">none so far</li>}
      </ul>
      {isUndrawn && <p class="muted">The drawing could not be loaded. Load the page again to see it.</p>}
      <div ref={box} class="line-plot-canvas clip" style={{ height: `${height}px` }} aria-hidden="true" />
      <FoldedTable summary={`Values of "${title}"`} label={`${title}, ${unit}`} table={() => tableOf(props)} />
    </figure>
  )
}

function LineMark({ line, place }: { readonly line: PlotLine; readonly place: number }) {
  return (
    <svg width="26" height="8" aria-hidden="true">
      <line
        x1="0"
        x2="26"
        y1="4"
        y2="4"
        style={{ stroke: `var(${colourTokenOf(colourPlace(line, place))})`, strokeWidth: '3' }}
        stroke-dasharray={dashOf(line, place).join(' ')}
      />
    </svg>
  )
}

function tableOf({ x, lines }: LinePlotProps) {
  const from = Math.max(0, x.values.length - tableRowsMax)
  const rows = x.values.slice(from).map((value, i) => ({
    key: String(value),
    name: x.isTime === true ? timeWords(value * 1000) : inWords(value),
    figures: lines.map(({ values }) => valueWords(values[from + i])),
  }))
  return { columns: [x.name, ...lines.map(({ label }) => label)], rows }
}

const valueWords = (value: number | null | undefined): string => (typeof value === 'number' ? inWords(value) : '–')

function dataOf({ x, lines, isLogarithmic }: LinePlotProps): uPlot.AlignedData {
  // A logarithmic axis has no zero.
  const drawn = (value: number | null | undefined): number | null | undefined =>
    isLogarithmic === true && typeof value === 'number' && value <= 0 ? null : value
  return [[...x.values], ...lines.map(({ values }) => values.map(drawn))] as uPlot.AlignedData
}

function optionsOf(props: LinePlotProps, element: HTMLElement, onUnder: (at: number | null) => void): uPlot.Options {
  const { x, lines, isLogarithmic = false, height = 180, least = 0 } = props
  const soft = colourOf('--text-2', element)
  const line = colourOf('--line', element)
  const axis = {
    stroke: soft,
    font: '11px system-ui, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
  }
  const clockWords = (_plot: uPlot, marks: readonly number[]): string[] =>
    marks.map((seconds) => timeWords(seconds * 1000))
  const words = (_plot: uPlot, marks: readonly (number | null)[]): string[] =>
    marks.map((mark) => (mark === null ? '' : inWords(mark)))
  const range = (_plot: uPlot, low: number | null, high: number | null): [number, number] => [
    Math.min(0, low ?? 0),
    Math.max(least, (high ?? 1) * 1.05) || 1,
  ]
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: {
        time: x.isTime === true,
        ...(isLogarithmic ? { distr: 3 as const } : {}),
        ...(x.isTime === true ? { range: timeRange } : {}),
      },
      y: isLogarithmic ? { distr: 3 } : { range },
    },
    axes: [
      {
        ...axis,
        size: 32,
        ...(x.isTime === true ? { values: clockWords } : { values: words, label: x.name, labelSize: 18 }),
      },
      { ...axis, size: 56, values: words },
    ],
    series: [
      {},
      ...lines.map((one, i) => ({
        label: one.label,
        stroke: colourOf(colourTokenOf(colourPlace(one, i)), element),
        dash: [...dashOf(one, i)],
        width: 2,
        // A line of one point, or between gaps, is none.
        points: { show: x.isTime === true || x.values.length < 40, size: x.isTime === true ? 3 : 5 },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onUnder(cursor.idx ?? null)] },
  }
}

/** The first seconds do not fill the plot. Of a single point uPlot would make a day. */
function timeRange({ data: [x] }: uPlot): [number, number] {
  const end = x.at(-1) ?? Date.now() / 1000
  return [Math.min(x[0] ?? end, end - timeSpanMin), end]
}
