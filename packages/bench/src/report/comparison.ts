/**
 * Arms compared in one picture: what several arms drew under one title stands together.
 *
 *   charts     of the same title, unit and x axis    overlaid: one x axis, a line for each line of each arm
 *   heatmaps   of the same title and unit            side by side: one time axis, one colour scale
 *   flows      of the same title                     side by side
 *
 * C1  A picture stands where the first of its arms drew it.
 * C2  No value is lost or made: a line has its own values at its own x, and nothing at those of others.
 */
import type { ArmResult, Chart, Flow, Heatmap } from '../measure/recorder.ts'

/** In place of a value where another arm has an x that this one has not: the line goes on over it. */
export const apart = 'apart'

export interface ComparedLine {
  readonly arm: string
  /** 0, 1, 2, …: which of the arms of the run, for its colour. */
  readonly armAt: number
  readonly name: string
  /** 0, 1, 2, …: which of the line names of the picture, for its dashes. */
  readonly nameAt: number
  /** The text of the legend, without the name of the line where there is only one. */
  readonly label: string
  readonly values: readonly (number | null | typeof apart)[]
}

export interface ComparedChart {
  readonly title: string
  readonly unit: string
  readonly x: Chart['x']
  readonly logarithmic: boolean
  readonly lines: readonly ComparedLine[]
}

export interface ComparedHeatmaps {
  readonly title: string
  readonly unit: string
  /** The hottest cell of all of them: the end of the scale. */
  readonly most: number
  /** The time axis of all of them, in this unit. */
  readonly time: Heatmap['time']
  readonly from: number
  readonly to: number
  readonly maps: readonly { readonly arm: string; readonly armAt: number; readonly heatmap: Heatmap }[]
}

export interface ComparedFlows {
  readonly title: string
  readonly flows: readonly { readonly arm: string; readonly armAt: number; readonly flow: Flow }[]
}

export interface Comparison {
  readonly charts: readonly ComparedChart[]
  readonly heatmaps: readonly ComparedHeatmaps[]
  readonly flows: readonly ComparedFlows[]
}

export function compared(arms: readonly ArmResult[]): Comparison {
  return {
    charts: grouped(arms, ({ charts }) => charts, chartName).map(overlaid),
    heatmaps: grouped(
      arms,
      ({ heatmaps }) => heatmaps,
      ({ title, unit, time }) => `${title} ${unit} ${time}`,
    ).map(sideBySide),
    flows: grouped(
      arms,
      ({ flows }) => flows,
      ({ title }) => title,
    ).map((group) => ({
      title: group[0].drawn.title,
      flows: group.map(({ drawn: flow, ...arm }) => ({ ...arm, flow })),
    })),
  }
}

interface Drawn<T> {
  readonly arm: string
  readonly armAt: number
  readonly drawn: T
}

type Group<T> = [Drawn<T>, ...Drawn<T>[]]

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
  return {
    title,
    unit,
    time,
    most: cells.reduce((most, value) => Math.max(most, value), 0),
    from: Math.min(...group.map(({ drawn }) => drawn.columns[0] ?? 0)),
    to: Math.max(...group.map(({ drawn }) => endOf(drawn))),
    maps: group.map(({ drawn: heatmap, ...arm }) => ({ ...arm, heatmap })),
  }
}

/** Where the last column ends. */
export function endOf({ columns }: Heatmap): number {
  const [last, before] = [columns.at(-1) ?? 0, columns.at(-2) ?? 0]
  return columns.length < 2 ? last + 1 : last + (last - before)
}

/** How far up a colour scale a value stands, 0 to 1: by the square root, so that a tenth of the greatest load is seen. */
export function heatShare(value: number, most: number): number {
  return most <= 0 ? 0 : Math.sqrt(Math.max(0, value) / most)
}

/** Values to write at a colour scale, with their places on it: nothing, some of the way, the most. */
export function scaleMarks(most: number): readonly { readonly share: number; readonly value: number }[] {
  return [0, 0.1, 0.4, 1].map((part) => ({ share: heatShare(part * most, most), value: part * most }))
}
