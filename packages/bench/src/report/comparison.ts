/**
 * Arms compared in one picture: drawings of several arms with one title are put together.
 *
 *   charts     of the same title, unit and x axis    overlaid: one x axis, a line for each line of each arm
 *   heatmaps   of the same title and unit            side by side: one time axis, one colour scale, and the place of each cell on it
 *   flows      of the same title                     side by side
 *
 * The picture has the place of the first arm's drawing. Each line keeps exactly its own points: one with values at x = 1 and 3
 * has no value at the x = 2 of another line.
 */
import type { ArmResult, Chart, Flow, Heatmap } from '../measure/recorder.ts'
import type { LabResult } from '../runner.ts'

/** Marks an x that only other arms have: the line is drawn across it. */
export const apart = 'apart'

export interface ComparedLine {
  readonly arm: string
  /** Index of the arm among those of the run, which gives the colour. */
  readonly armAt: number
  readonly name: string
  /** Index of the line's name among those of the picture, which gives the dashes. */
  readonly nameAt: number
  /** The legend; it omits the line's name if the picture has only one. */
  readonly label: string
  readonly values: readonly (number | null | typeof apart)[]
}

export interface ComparedChart extends Omit<Chart, 'lines'> {
  readonly lines: readonly ComparedLine[]
}

export interface ComparedHeatmaps extends Pick<Heatmap, 'title' | 'unit' | 'time'> {
  /** The hottest cell of all maps: the upper end of the scale. */
  readonly most: number
  /** The common time axis, in the unit `time`. */
  readonly from: number
  readonly to: number
  readonly maps: readonly {
    readonly arm: string
    readonly armAt: number
    readonly heatmap: Heatmap
    /** Position of each cell on the colour scale, 0 to 1, by row. */
    readonly shares: readonly (readonly number[])[]
  }[]
  /** The labels of the colour scale. */
  readonly scale: ReturnType<typeof scaleMarks>
}

export interface ComparedFlows {
  readonly title: string
  readonly flows: readonly { readonly arm: string; readonly armAt: number; readonly flow: Flow }[]
}

export interface Comparison {
  readonly charts: readonly ComparedChart[]
  readonly flows: readonly ComparedFlows[]
  readonly heatmaps: readonly ComparedHeatmaps[]
}

/** A result with its pictures, as the page of `--html` and the console draw them. */
export interface DrawableResult extends LabResult {
  readonly comparison: Comparison
}

export function drawable(result: LabResult): DrawableResult {
  return { ...result, comparison: compared(result.arms) }
}

export function compared(arms: readonly ArmResult[]): Comparison {
  return {
    charts: grouped(arms, ({ charts }) => charts, chartName).map(overlaid),
    flows: grouped(arms, ({ flows }) => flows, titleOf).map((group) => ({
      title: group[0].drawn.title,
      flows: group.map(({ drawn: flow, ...arm }) => ({ ...arm, flow })),
    })),
    heatmaps: grouped(arms, ({ heatmaps }) => heatmaps, heatmapName).map(sideBySide),
  }
}

interface Drawn<T> {
  readonly arm: string
  readonly armAt: number
  readonly drawn: T
}

type Group<T> = [Drawn<T>, ...Drawn<T>[]]

const titleOf = ({ title }: Flow): string => title
const heatmapName = ({ title, unit, time }: Heatmap): string => `${title} ${unit} ${time}`
const chartName = ({ title, unit, x, logarithmic }: Chart): string => JSON.stringify([title, unit, x.name, logarithmic])

function grouped<T>(
  arms: readonly ArmResult[],
  of: (arm: ArmResult) => readonly T[],
  nameOf: (drawn: T) => string,
): Group<T>[] {
  const groups = new Map<string, Group<T>>()
  for (const [armAt, arm] of arms.entries())
    for (const drawn of of(arm)) {
      const one = { arm: arm.name, armAt, drawn }
      const group = groups.get(nameOf(drawn))
      if (group === undefined) groups.set(nameOf(drawn), [one])
      else group.push(one)
    }
  return [...groups.values()]
}

function overlaid(group: Group<Chart>): ComparedChart {
  const { title, unit, x, logarithmic } = group[0].drawn
  const values = [...new Set(group.flatMap(({ drawn }) => drawn.x.values))].sort((a, b) => a - b)
  const names = [...new Set(group.flatMap(({ drawn }) => drawn.lines.map(({ name }) => name)))]
  const lines = group.flatMap(({ arm, armAt, drawn }) => {
    const place = new Map(drawn.x.values.map((value, i) => [value, i]))
    return drawn.lines.map((line): ComparedLine => {
      const tellsNothing = names.length === 1 || (drawn.lines.length === 1 && line.name === arm)
      return {
        arm,
        armAt,
        name: line.name,
        nameAt: names.indexOf(line.name),
        label: tellsNothing ? arm : `${arm}, ${line.name}`,
        values: values.map((value) => {
          const at = place.get(value)
          return at === undefined ? apart : (line.values[at] ?? null)
        }),
      }
    })
  })
  return { title, unit, x: { name: x.name, values }, logarithmic, lines }
}

function sideBySide(group: Group<Heatmap>): ComparedHeatmaps {
  const { title, unit, time } = group[0].drawn
  const cells = group.flatMap(({ drawn }) => drawn.rows.flatMap(({ values }) => values))
  const most = cells.reduce((most, value) => Math.max(most, value), 0)
  return {
    title,
    unit,
    time,
    most,
    from: Math.min(...group.map(({ drawn }) => drawn.columns[0] ?? 0)),
    to: Math.max(...group.map(({ drawn }) => endOf(drawn))),
    maps: group.map(({ drawn: heatmap, ...arm }) => ({
      ...arm,
      heatmap,
      shares: heatmap.rows.map(({ values }) => values.map((value) => Number(heatShare(value, most).toFixed(3)))),
    })),
    scale: scaleMarks(most),
  }
}

export function endOf({ columns }: Heatmap): number {
  const [last, before] = [columns.at(-1) ?? 0, columns.at(-2) ?? 0]
  return columns.length < 2 ? last + 1 : last + (last - before)
}

/** Position of a value on the colour scale, 0 to 1: its square root, so that a tenth of the greatest load is visible. */
export function heatShare(value: number, most: number): number {
  return most <= 0 ? 0 : Math.sqrt(Math.max(0, value) / most)
}

/** The labels of a colour scale with their positions. */
export function scaleMarks(most: number): readonly { readonly share: number; readonly value: number }[] {
  return [0, 0.1, 0.4, 1].map((part) => ({ share: heatShare(part * most, most), value: part * most }))
}
