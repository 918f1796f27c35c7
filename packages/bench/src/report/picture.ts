/**
 * Pictures of compared arms in characters: a line of bars for each line of a chart, a row of shades for each key range, a block for
 * each row that a put writes, stage by stage. Arms of one picture share axes and scale.
 */
import { inWords } from '../lab.ts'
import { apart, type ComparedChart, type ComparedFlows, type ComparedHeatmaps, endOf, heatShare } from './comparison.ts'
import type { InkLine, Span } from './ink.ts'

const bars = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const shades = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@']
/** The terminal's colours of a heat scale, from black over blue and red to yellow. */
const heat = [16, 17, 18, 54, 90, 126, 162, 203, 214, 227]

const widthMax = 72

export function drawChart({ title, unit, x, logarithmic, lines }: ComparedChart): InkLine[] {
  const [first, last] = [x.values[0] ?? 0, x.values.at(-1) ?? 0]
  const width = Math.max(...lines.map(({ label }) => label.length))
  const known = lines.flatMap(({ values }) => values.filter((value) => typeof value === 'number'))
  if (known.length === 0) return [[`  ${title}, ${unit}: nothing measured`]]
  const scale = { least: lowest(known), most: highest(known), logarithmic }
  const drawn = lines.map(({ label, values }): InkLine => {
    const own = values.filter((value) => typeof value === 'number')
    if (own.length === 0) return [`    ${label.padEnd(width)}  nothing measured`]
    const shown = resampled(
      values.filter((value) => value !== apart),
      widthMax,
    )
    const line = shown.map((value) => barOf(value, scale)).join('')
    return [
      `    ${label.padEnd(width)}  `,
      { text: line, colour: 75 },
      `  ${inWords(lowest(own))} … ${inWords(highest(own))}`,
    ]
  })
  return [[`  ${title}, ${unit}; ${x.name} ${inWords(first)} to ${inWords(last)}`], ...drawn]
}

const lowest = (values: readonly number[]): number => values.reduce((one, other) => Math.min(one, other))
const highest = (values: readonly number[]): number => values.reduce((one, other) => Math.max(one, other))

interface Scale {
  readonly least: number
  readonly most: number
  readonly logarithmic: boolean
}

function barOf(value: number | null, { least, most, logarithmic }: Scale): string {
  if (value === null) return ' '
  const isLogarithmic = logarithmic && least > 0
  const scale = isLogarithmic ? Math.log : (one: number): number => one
  const [low, high] = [isLogarithmic ? scale(least) : Math.min(0, least), scale(most)]
  const share = high > low ? (scale(value) - low) / (high - low) : 1
  return bars[Math.max(1, Math.min(8, Math.round(share * 8)))] ?? ' '
}

/** @param arms - names of the arms to draw, on the scale of all of them; default all */
export function drawHeatmaps(compared: ComparedHeatmaps, arms?: readonly string[]): InkLine[] {
  const { title, unit, time, most, from, to, maps } = compared
  const shown = maps.filter(({ arm }) => arms === undefined || arms.includes(arm))
  if (shown.length === 0) return []
  const scale = `' ' is 0, '=' about ${inWords(most / 5)}, '@' ${inWords(most)}`
  return [
    [`  ${title}, ${unit}: ${scale}; ${inWords(from)} to ${inWords(to)} ${time}`],
    ...shown.flatMap(({ arm, heatmap }): InkLine[] => {
      const label = Math.min(38, Math.max(...heatmap.rows.map((row) => row.label.length)))
      // Its width is its share of the common time axis.
      const share = (endOf(heatmap) - (heatmap.columns[0] ?? 0)) / (to - from || 1)
      const width = Math.max(1, Math.round(share * widthMax))
      const events = heatmap.events.length === 0 ? '' : `: ${heatmap.events.length} splits, moves and refusals`
      return [
        [`    ${arm}${events}`],
        ...heatmap.rows.map((row): InkLine => {
          const cells = resampled(row.values, width).map((value) => shadeOf(value ?? 0, most))
          return [`      ${clipped(row.label, label).padEnd(label)} │`, ...cells, '│']
        }),
      ]
    }),
  ]
}

function shadeOf(value: number, most: number): Span {
  const at = Math.min(9, Math.ceil(heatShare(value, most) * 9))
  const colour = heat[at]
  return { text: shades[at] ?? ' ', colour, background: colour }
}

/** @param arms - as for heatmaps */
export function drawFlows({ title, flows }: ComparedFlows, arms?: readonly string[]): InkLine[] {
  const shown = flows.filter(({ arm }) => arms === undefined || arms.includes(arm))
  if (shown.length === 0) return []
  return [
    [`  ${title}`],
    ...shown.flatMap(({ arm, flow: { stages } }): InkLine[] => {
      const width = Math.max(...stages.map(({ name }) => name.length))
      return [
        [`    ${arm}`],
        ...stages.flatMap(({ name, tables, reads }): InkLine[] => [
          [
            `      ${name.padEnd(width)}  `,
            ...tables.flatMap(({ table, rows }) => [`${table} `, { text: '■'.repeat(rows), colour: 75 }, '  ']),
          ],
          ...readLines(reads).map((line): InkLine => [`      ${' '.repeat(width)}  `, line]),
        ]),
      ]
    }),
  ]
}

function readLines(reads: ComparedFlows['flows'][number]['flow']['stages'][number]['reads']): string[] {
  const [what, answer] = [widest(reads.map((one) => one.what)), widest(reads.map((one) => one.answer))]
  return reads.map(
    (one) => `${one.what.padEnd(what)}  ${one.answer.padEnd(answer)}  ${one.isRight ? 'right' : 'wrong'}`,
  )
}

const widest = (words: readonly string[]): number => Math.max(0, ...words.map(({ length }) => length))

/** The same course in at most `width` values, each the maximum of its part. */
export function resampled<T extends number | null>(values: readonly T[], width: number): readonly (number | null)[] {
  if (values.length <= width) return values
  return Array.from({ length: width }, (_, i) => {
    const part = values.slice(Math.floor((i * values.length) / width), Math.floor(((i + 1) * values.length) / width))
    const known = part.filter((value): value is T & number => value !== null)
    return known.length === 0 ? null : Math.max(...known)
  })
}

/** The last characters of a text: keys of one range differ at their ends. */
function clipped(words: string, width: number): string {
  return words.length <= width ? words : `…${words.slice(words.length - width + 1)}`
}
