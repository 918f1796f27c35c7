/** The one colour scale of all pictures that are shown. */
import { HeatBar } from '../../components/heat-bar.tsx'
import type { Metric } from '../../model/heat-plane.ts'
import { scaleMarks } from '../../model/heat-scale.ts'
import { metricTitles, valueWords } from '../../model/heat-words.ts'

export function Legend({ most, metric }: { readonly most: number; readonly metric: Metric }) {
  const marks = scaleMarks(most).map(({ share, value }) => ({
    share,
    words: valueWords(value, metric).replace(/(\/s| each)$/, ''),
  }))
  return (
    <div class="heat-legend">
      <span>{metricTitles[metric]}</span>
      <HeatBar marks={marks} />
      <span class="muted">
        {metric === 'wait' ? 'each operation' : '/s'}; brighter is hotter, by the square root: a quarter of the load has
        half the brightness
      </span>
    </div>
  )
}
