/** Binary search in whatever is sorted. */

/**
 * The first place that is not before what is looked for; `count` when all are.
 *
 * @param isBefore - true for the places up to some one, false from there on
 * @param from - the first place that is looked at
 */
export function lowerBound(count: number, isBefore: (place: number) => boolean, from = 0): number {
  let low = from
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
