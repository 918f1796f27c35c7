/** The whole kept history of a recording in one strip, with the part that is shown; a slider moves it. */
import { useMemo } from 'preact/hooks'
import type { Plane } from '../../model/heat-plane.ts'
import { heatShare } from '../../model/heat-scale.ts'
import { timeWords } from '../../model/numbers.ts'
import type { Heat } from './view.ts'

const height = 34
const parts = 300

export function Strip({ recordings, main, tables, metric, view }: Heat) {
  const { recording } = main
  const { ages } = view
  const endMs = recordings.endOf(main)
  const keptMs = Math.max(ages.fromMs, endMs - recording.fromMs)
  const bars = useMemo(() => {
    const planes = tables.map((table) => recordings.planeOf(main, table, metric))
    return barsOf(sumsOf(planes, endMs - keptMs, endMs))
  }, [recording, recording.version, endMs, tables.join(), metric, keptMs])
  const shownMs = ages.fromMs - ages.toMs
  const most = Math.max(0, keptMs - shownMs)
  const share = (ageMs: number): string => `${(1 - ageMs / keptMs) * 100}%`
  return (
    <div class="heat-strip mb-3">
      <div class="heat-strip-picture shade lined relative">
        <svg
          class="block whole"
          viewBox={`0 0 ${parts} ${height}`}
          height={height}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path d={bars} fill="var(--series-1)" />
        </svg>
        <div
          class="heat-strip-window absolute"
          style={{ left: share(ages.fromMs), width: `${(shownMs / keptMs) * 100}%` }}
        />
      </div>
      <label>
        <span class="visually-hidden">Time that is shown</span>
        <input
          class="block m-0 p-0"
          type="range"
          min={Math.min(-1, -Math.ceil(most / 1000))}
          max={0}
          step={1}
          value={-Math.round(ages.toMs / 1000)}
          disabled={most < 1000}
          aria-valuetext={`${timeWords(endMs - ages.fromMs)} to ${timeWords(endMs - ages.toMs)}`}
          onInput={(event) => view.scrub(-Number(event.currentTarget.value) * 1000)}
        />
      </label>
      <p class="muted small m-0">
        {timeWords(endMs - ages.fromMs)} to {timeWords(endMs - ages.toMs)} of {timeWords(endMs - keptMs)} to{' '}
        {timeWords(endMs)}
      </p>
    </div>
  )
}

function barsOf(sums: readonly number[]): string {
  const most = Math.max(...sums)
  return sums.map((sum, i) => `M${i} ${height}V${height - heatShare(sum, most) * height}h1V${height}`).join('')
}

/** The load of all keys in each part of a time: the greatest of the columns in it. */
function sumsOf(planes: readonly Plane[], fromMs: number, toMs: number): number[] {
  const sums = new Array<number>(parts).fill(0)
  const placeOf = (ms: number): number => Math.floor(((ms - fromMs) / (toMs - fromMs)) * parts)
  for (const { totals, starts, ends } of planes) {
    for (const [c, startMs] of starts.entries()) {
      const last = Math.max(placeOf(startMs), placeOf(ends[c] as number) - 1)
      for (let i = Math.max(0, placeOf(startMs)); i <= Math.min(parts - 1, last); i++) {
        sums[i] = Math.max(sums[i] ?? 0, totals[c] as number)
      }
    }
  }
  return sums
}
