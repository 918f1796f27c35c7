/** Times and durations as people write and read them, for the command line and the console. This file loads no engine. */
import { parseDateTime } from '../gql/literals.ts'

/** Reads a time with its zone, to the millisecond; the seconds may be left out, or all but the day. `undefined` for any other value. */
export function momentOf(moment: unknown): Date | undefined {
  if (typeof moment !== 'string') return undefined
  const time = moment.length === 10 ? `${moment}T00:00Z` : moment
  const micros = parseDateTime(time.replace(/^(.{10}T\d\d:\d\d)(?=[Z+-])/, '$1:00'))
  return micros === undefined ? undefined : new Date(Number(micros / 1000n))
}

/** Milliseconds since the epoch of a moment from 1970 to 9000, which leaves room to move on; `undefined` for any other. */
export function standsAtOf(moment: string | Date): number | undefined {
  const ms = (typeof moment === 'string' ? momentOf(moment) : new Date(moment))?.getTime()
  return ms !== undefined && ms >= 0 && ms <= Date.UTC(9000, 0) ? ms : undefined
}

const units = [
  { ms: 86_400_000, one: 'day', several: 'days' },
  { ms: 3_600_000, one: 'h', several: 'h' },
  { ms: 60_000, one: 'min', several: 'min' },
  { ms: 1000, one: 's', several: 's' },
] as const

/** The largest unit and the next smaller one: `1,135 days 2 h`, `1 min 30 s`, `1.5 s`, `250 ms`. @param ms - not negative */
export function timeInWords(ms: number): string {
  if (ms < 1000) return `${Math.floor(ms)} ms`
  for (const [i, unit] of units.entries()) {
    const below = units[i + 1]
    if (ms < unit.ms || below === undefined) continue
    const rest = Math.floor((ms % unit.ms) / below.ms)
    const whole = Math.floor(ms / unit.ms)
    const most = `${whole.toLocaleString('en-US')} ${whole === 1 ? unit.one : unit.several}`
    return rest === 0 ? most : `${most} ${rest} ${below.several}`
  }
  return `${Math.floor(ms / 100) / 10} s`
}
