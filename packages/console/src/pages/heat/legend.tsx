/** The one colour scale of all pictures that are shown. */
import type { Metric } from '../../model/heat-plane.ts'
import { heatGradient, scaleMarks } from '../../model/heat-scale.ts'
import { metricTitles, valueWords } from '../../model/heat-words.ts'

export function Legend({ most, metric }: { readonly most: number; readonly metric: Metric }) {
  const marks = scaleMarks(most)
  return (
    <div class="heat-legend">
      <span>{metricTitles[metric]}</span>
      <div>
        <div class="heat-legend-bar" style={{ background: heatGradient }} />
        <ul>
          {marks.map(({ share, value }) => (
            <li key={share} style={share === 1 ? { right: '0' } : { left: `${share * 100}%` }}>
              {valueWords(value, metric).replace(/(\/s| each)$/, '')}
            </li>
          ))}
        </ul>
      </div>
      <span class="muted">
        {metric === 'wait' ? 'each operation' : '/s'}; brighter is hotter, by the square root: a quarter of the load has
        half the brightness
      </span>
    </div>
  )
}
