/** The colour scale of heat, with words at places of it. */
import { heatGradient } from '../model/heat-scale.ts'

export interface HeatBarProps {
  /** Shares of the scale, 0 to 1. */
  readonly marks: readonly { readonly share: number; readonly words: string }[]
}

export function HeatBar({ marks }: HeatBarProps) {
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
