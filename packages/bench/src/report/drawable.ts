/**
 * A result with its pictures, as the page of `--html` and the console draw them: the compared plots of the arms (comparison.ts), and
 * the colour of each cell of a heatmap.
 */
import type { LabResult } from '../runner.ts'
import {
  type ComparedChart,
  type ComparedFlows,
  type ComparedHeatmaps,
  compared,
  heatShare,
  scaleMarks,
} from './comparison.ts'

export interface DrawableResult extends LabResult {
  readonly comparison: {
    readonly charts: readonly ComparedChart[]
    readonly flows: readonly ComparedFlows[]
    readonly heatmaps: readonly DrawableHeatmaps[]
  }
}

export interface DrawableHeatmaps extends Omit<ComparedHeatmaps, 'maps'> {
  /** The labels of the colour scale. */
  readonly scale: ReturnType<typeof scaleMarks>
  /** `shares`: position of each cell on the colour scale, 0 to 1, by row. */
  readonly maps: readonly (ComparedHeatmaps['maps'][number] & { readonly shares: readonly (readonly number[])[] })[]
}

export function drawable(result: LabResult): DrawableResult {
  const { charts, heatmaps, flows } = compared(result.arms)
  const drawn = heatmaps.map((group) => ({
    ...group,
    scale: scaleMarks(group.most),
    maps: group.maps.map((map) => ({
      ...map,
      shares: map.heatmap.rows.map(({ values }) =>
        values.map((value) => Number(heatShare(value, group.most).toFixed(3))),
      ),
    })),
  }))
  return { ...result, comparison: { charts, flows, heatmaps: drawn } }
}
