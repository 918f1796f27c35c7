/** One capacity, threshold, service time or size of the labs. */
export interface Setting {
  readonly value: number
  readonly unit: string
  readonly about: string
  readonly source: string
  /** The least value that makes sense; default 0. */
  readonly least?: number
}
