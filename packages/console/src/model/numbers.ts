/** Numbers, sizes and times as people read them. */

/** Three significant digits, and whole numbers below 100,000 as they are, since they count something. */
export function inWords(value: number): string {
  const isCount = Number.isInteger(value) && Math.abs(value) < 100_000
  return value.toLocaleString('en-US', isCount ? {} : { maximumSignificantDigits: 3 })
}

/** `1,234,567`; with nouns `1 entity`, `2 entities`. */
export function counted(value: number, one = '', more = `${one}s`): string {
  const words = value.toLocaleString('en-US')
  return one === '' ? words : `${words} ${value === 1 ? one : more}`
}

export const entitiesInWords = (count: number): string => counted(count, 'entity', 'entities')

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** `820 bytes`, `1.2 MiB` */
export function bytesInWords(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toLocaleString('en-US', { maximumSignificantDigits: 3 })} ${units[unit]}`
}

/** `0.42 ms`, `1.5 s` */
export function durationInWords(ms: number): string {
  return ms < 1000 ? `${inWords(Number(ms.toPrecision(3)))} ms` : `${inWords(Number((ms / 1000).toPrecision(3)))} s`
}

/** `14:05:09` */
export function timeWords(at: number | string): string {
  return new Date(at).toLocaleTimeString('en-GB')
}
