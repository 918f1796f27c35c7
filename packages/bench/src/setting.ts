/** One capacity, threshold, service time or size of the labs. */
export interface Setting {
  readonly value: number
  readonly unit: string
  readonly about: string
  /** Where the value is from; default: ours. */
  readonly source?: string
  /** The least value that makes sense; default 0. */
  readonly least?: number
  /** The greatest; default: 1 for a share, ten times the default value where a run takes longer with more of it, else a hundred times. */
  readonly most?: number
  /** A run takes longer the more, or the less, it is; which of both depends on the lab. */
  readonly longer?: 'more' | 'less' | 'either'
}

/** Units of which there may be a part. */
const divisible: readonly string[] = ['ms', 's', 'minutes', 'share', '%', 'times', '/s']

export function mostOf({ value, unit, most, longer }: Setting): number {
  return most ?? (unit === 'share' ? 1 : (longer === 'more' || longer === 'either' ? 10 : 100) * value)
}

export function isWhole({ unit }: Setting): boolean {
  return !divisible.includes(unit)
}
