/**
 * Writes many keys into one leaf of a B+tree: merges them in one pass, and cuts the result into leaves.
 *
 *   leaf + ascending keys ─▶ merged ─▶ one piece, or several of nearly equal size with a separator between each two
 */
import type { Leaf, TreeEntry } from './btree-node.ts'
import { ownRest, prefixBetween, rebased, separatorOf } from './key-parts.ts'

export interface LeafRows<V> {
  readonly rests: string[]
  readonly values: V[]
}

/** A future leaf and the separator before it; the first piece has none. */
export interface Piece<V> extends LeafRows<V> {
  readonly separator: string | undefined
  readonly prefix: string
}

/**
 * Merges the rows of `leaf` with those of `rows` from `from` up to `to`, which must ascend strictly and replace equal keys.
 */
export function mergedRows<V>(leaf: Leaf<V>, rows: readonly TreeEntry<V>[], from: number, to: number): LeafRows<V> {
  const { prefix, rests: old, values: oldValues } = leaf
  const rests: string[] = []
  const merged: V[] = []
  let next = 0
  for (let i = from; i < to; i++) {
    const { key, value } = rows[i] as TreeEntry<V>
    const rest = ownRest(key, prefix.length)
    while (next < old.length && (old[next] as string) < rest) {
      rests.push(old[next] as string)
      merged.push(oldValues[next] as V)
      next++
    }
    if (old[next] === rest) next++
    rests.push(rest)
    merged.push(value)
  }
  for (; next < old.length; next++) {
    rests.push(old[next] as string)
    merged.push(oldValues[next] as V)
  }
  return { rests, values: merged }
}

/**
 * Cuts rows behind `prefix`, between the separators `low` and `high`, into pieces.
 *
 * @param size - the most rows of a piece; two or more pieces have at least half as many each
 */
export function piecesOf<V>(
  { rests, values }: LeafRows<V>,
  prefix: string,
  low: string | undefined,
  high: string | undefined,
  size: number,
): Piece<V>[] {
  const count = Math.ceil(rests.length / size)
  const pieces: Piece<V>[] = []
  let start = 0
  let separator: string | undefined
  for (let n = 1; n <= count; n++) {
    const end = Math.floor((rests.length * n) / count)
    const next = n === count ? undefined : separatorOf(prefix + rests[end - 1], prefix + rests[end])
    const own = prefixBetween(separator ?? low, next ?? high)
    pieces.push({
      separator,
      prefix: own,
      rests: rebased(prefix, rests.slice(start, end), own),
      values: values.slice(start, end),
    })
    start = end
    separator = next
  }
  return pieces
}
