/** Sums and means. */

export function sum(values: Iterable<number>): number {
  let all = 0
  for (const value of values) all += value
  return all
}

/** The mean; 0 of nothing. */
export function mean(values: readonly number[]): number {
  return sum(values) / Math.max(1, values.length)
}
