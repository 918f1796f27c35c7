/**
 * Binary search: the first place that is not before the target; `count` if all are.
 *
 * @param isBefore - true up to some place, false from there on
 * @param from - the first place to look at
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
