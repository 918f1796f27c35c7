/** Sums and means over lists. */

export function sumOf<T>(all: readonly T[], value: (one: T) => number): number {
  return all.reduce((sum, one) => sum + value(one), 0)
}

/** The mean; 0 of nothing. */
export function meanOf<T>(all: readonly T[], value: (one: T) => number): number {
  return sumOf(all, value) / Math.max(1, all.length)
}
