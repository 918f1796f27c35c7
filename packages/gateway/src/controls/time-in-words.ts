/** Durations for people, for the command line and the console. */

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
