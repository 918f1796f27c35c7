/**
 * Parsers for the texts inside of literals: integers, DATETIME and BLOB. Each returns `undefined` for a wrong text.
 *
 * Measured: a DATETIME has a zone and at most six decimals of a second; a BLOB is base64 in the URL-safe alphabet without
 * padding.
 */

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

export function parseInt64(text: string): bigint | undefined {
  // The first digits of a long one are too many already; all of them would take long to read.
  const number = BigInt(text.replace(/^(?:\+|(-))?0*(?=\d)/, '$1').slice(0, 21))
  return number > int64Max || number < int64Min ? undefined : number
}

const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z in microseconds. */
const timestampMin = -62_135_596_800_000_000n
const timestampMax = 253_402_300_799_999_999n

/** Microseconds since the epoch. */
export function parseDateTime(text: string): bigint | undefined {
  const parts = dateTime.exec(text)
  if (parts === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  const [fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = parts.slice(7)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  if (year === 0 || hour > 23 || minute > 59 || second > 59) return undefined
  const offset = Number(offsetHour) * 60 + Number(offsetMinute)
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined
  const minutes = hour * 60 + minute - (sign === '-' ? -offset : offset)
  const seconds = BigInt(date.getTime() / 1000 + minutes * 60 + second)
  const micros = seconds * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
  return micros < timestampMin || micros > timestampMax ? undefined : micros
}

/** `2030-01-31T23:59:59Z`, with six decimals of a second if it has any. The inverse of parseDateTime(). */
export function printDateTime(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  const whole = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19)
  return fraction === 0n ? `${whole}Z` : `${whole}.${String(fraction).padStart(6, '0')}Z`
}

export function parseBlob(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(bytes, (unit) => unit.charCodeAt(0))
}

/** The inverse of parseBlob(). */
export function printBlob(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
