/** Short forms of figures. */

/** A rate per second: `0`, `0.4`, `17`, `1,234`, `56k`, `7.4M`; at most five characters. */
export function rate(value: number): string {
  return value > 0 && value < 9.95 ? value.toFixed(1) : count(value)
}

/** A count: `0`, `4`, `1,234`, `56k`, `7.4M`; at most five characters. */
export function count(value: number): string {
  if (value < 9999.5) return Math.round(value).toLocaleString('en')
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  return `${(value / 1e6).toFixed(1)}M`
}

/** `12 B`, `3.4 KiB`, `56 MiB`. */
export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = value
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 || size >= 99.5 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}

/** `0.3 ms`, `12 ms`, `1.5 s`, `10 min`. */
export function duration(ms: number): string {
  if (ms < 9.95) return `${Number(ms.toFixed(1))} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`
  if (ms < 3_600_000) return `${Number((ms / 60_000).toFixed(1))} min`
  return `${Number((ms / 3_600_000).toFixed(1))} h`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** The time of day in UTC: `12:34:56`. */
export function timeOfDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19)
}
