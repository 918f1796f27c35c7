/** The colour scale of heat, with words at places of it. */
import { heatGradient } from '../model/heat-scale.ts'

/** @param props - shares of the scale, from 0 to 1 */
export function HeatBar({ marks }: { readonly marks: readonly Readonly<{ share: number; words: string }>[] }) {
  return (
    <div class="small" style={{ width: 'min(320px, 100%)' }}>
      <div class="lined" style={{ background: heatGradient, height: '12px' }} />
      <ul class="relative" style={{ height: '16px' }}>
        {marks.map(({ share, words }) => (
          <li key={share} class="absolute" style={share === 1 ? { right: '0' } : { left: `${share * 100}%` }}>
            {words}
          </li>
        ))}
      </ul>
    </div>
  )
}
