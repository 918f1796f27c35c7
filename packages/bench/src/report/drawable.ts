/**
 * A result with its pictures: the plots of the arms compared (comparison.ts), and each cell of a heatmap with its place on the scale of
 * colours. The page of `--html` and the console draw from it.
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
  /** Values to write at the scale of colours. */
  readonly scale: ReturnType<typeof scaleMarks>
  /** `shares`: of each row, how far up the scale its cells are, 0 to 1. */
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
