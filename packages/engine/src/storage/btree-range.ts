/**
 * Removes everything behind a path through a B+tree up to an end key, whole subtrees at a time.
 *
 *   path    inner   [ c0  c1  c2  c3 ]      taken = 1: c2 and c3 are behind the path; those that end before `end` are removed
 *
 * If a child is removed at one depth, everything behind the path in the nodes below is before that child, so it is removed
 * too.
 */
import { type Inner, type Leaf, setSeparators, type TreeNode } from './btree-node.ts'

/** A path from the root: the inner nodes, and the child taken in each. */
export interface Way<V> {
  readonly path: readonly Inner<V>[]
  readonly taken: readonly number[]
  readonly height: number
  /** The separator before, or after, all of child `index` of the node at `depth`. */
  lowOf(depth: number, index: number): string | undefined
  highOf(depth: number, index: number): string | undefined
}

/** Removes the subtrees behind the path that end at or before `end`. @returns whether there were any */
export function dropBehind<V>({ path, taken, height, lowOf, highOf }: Way<V>, end: string): boolean {
  let hasChanged = false
  for (let depth = 0; depth < height; depth++) {
    const { keys, nodes } = path[depth] as Inner<V>
    const at = taken[depth] as number
    let behind = at + 1
    for (; behind < nodes.length; behind++) {
      const high = highOf(depth, behind)
      if (high === undefined || high > end) break
    }
    const count = behind - at - 1
    if (count > 0) {
      // The remaining separator is the one before the next child: the rest on the path reaches up to it.
      keys.splice(at, count)
      nodes.splice(at + 1, count)
      hasChanged = true
    }
    if (!hasChanged) continue
    const place = taken[depth - 1] ?? 0
    setSeparators(path[depth] as Inner<V>, keys, nodes, lowOf(depth - 1, place), highOf(depth - 1, place))
  }
  return hasChanged
}

/** Removes the keys from `from` to before `end` from a leaf's lists. @returns their number */
export function cutOut<V>(keys: string[], values: V[], from: string, end: string): number {
  let first = 0
  while (first < keys.length && (keys[first] as string) < from) first++
  let behind = first
  while (behind < keys.length && (keys[behind] as string) < end) behind++
  keys.splice(first, behind - first)
  values.splice(first, behind - first)
  return behind - first
}

/** The number of rows under a node, by visiting all its nodes. */
export function rowsUnder<V>(node: TreeNode<V>, height: number): number {
  if (height === 0) return (node as Leaf<V>).rests.length
  let rows = 0
  for (const child of (node as Inner<V>).nodes) rows += rowsUnder(child, height - 1)
  return rows
}
