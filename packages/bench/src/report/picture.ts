/**
 * Charts and heatmaps in characters: a line of bars for each line of a chart, and a row of shades for each key range.
 */
import { inWords } from '../lab.ts'
import type { Chart, Heatmap } from '../measure/recorder.ts'
import type { InkLine, Span } from './ink.ts'

const bars = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const shades = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@']
/** From black over blue and red to yellow, in the terminal's 256 colours: the hotter the lighter. */
const heat = [16, 17, 18, 54, 90, 126, 162, 203, 214, 227]

const widthMax = 72

export function drawChart(chart: Chart): InkLine[] {
  const { x, unit } = chart
  const first = x.values[0] ?? 0
  const last = x.values.at(-1) ?? 0
  const name = Math.max(...chart.lines.map((line) => line.name.length))
  const lines = chart.lines.map((line): InkLine => {
    const values = resampled(line.values, widthMax)
    const known = values.filter((value) => value !== null)
    if (known.length === 0) return [`    ${line.name.padEnd(name)}  nothing measured`]
    const [least, most] = [Math.min(...known), Math.max(...known)]
    const drawn = values.map((value) => barOf(value, least, most, chart.logarithmic)).join('')
    return [`    ${line.name.padEnd(name)}  `, { text: drawn, colour: 75 }, `  ${inWords(least)} … ${inWords(most)}`]
  })
  return [[`  ${chart.title}, ${unit}; ${x.name} ${inWords(first)} to ${inWords(last)}`], ...lines]
}

function barOf(value: number | null, least: number, most: number, logarithmic: boolean): string {
  if (value === null) return ' '
  const scale = logarithmic && least > 0 ? Math.log : (one: number): number => one
  const [low, high] = [logarithmic ? scale(least) : Math.min(0, least), scale(most)]
  const share = high > low ? (scale(value) - low) / (high - low) : 1
  return bars[Math.max(1, Math.min(8, Math.round(share * 8)))] ?? ' '
}

export function drawHeatmap(heatmap: Heatmap): InkLine[] {
  const most = Math.max(0, ...heatmap.rows.flatMap(({ values }) => values))
  const label = Math.min(38, Math.max(...heatmap.rows.map((row) => row.label.length)))
  const rows = heatmap.rows.map((row): InkLine => {
    const cells = resampled(row.values, widthMax).map((value) => shadeOf(value ?? 0, most))
    return [`    ${clipped(row.label, label).padEnd(label)} │`, ...cells, '│']
  })
  const [first = 0, last = 0] = [heatmap.columns[0], heatmap.columns.at(-1)]
  const events = heatmap.events.length === 0 ? '' : `; ${heatmap.events.length} events`
  const head = `  ${heatmap.title}, ${heatmap.unit}, at most ${inWords(most)} ('@'); ${inWords(first)} s to ${inWords(last)} s${events}`
  return [[head], ...rows]
}

function shadeOf(value: number, most: number): Span {
  // By the square root, so that a tenth of the greatest load is still seen.
  const at = most === 0 ? 0 : Math.min(9, Math.ceil(Math.sqrt(value / most) * 9))
  const colour = heat[at]
  return { text: shades[at] ?? ' ', colour, background: colour }
}

/** The same course in at most `width` values: the greatest of each part. */
export function resampled<T extends number | null>(values: readonly T[], width: number): readonly (number | null)[] {
  if (values.length <= width) return values
  return Array.from({ length: width }, (_, i) => {
    const part = values.slice(Math.floor((i * values.length) / width), Math.floor(((i + 1) * values.length) / width))
    const known = part.filter((value): value is T & number => value !== null)
    return known.length === 0 ? null : Math.max(...known)
  })
}

/** Keeps the end, where keys differ. */
function clipped(words: string, width: number): string {
  return words.length <= width ? words : `…${words.slice(words.length - width + 1)}`
}
