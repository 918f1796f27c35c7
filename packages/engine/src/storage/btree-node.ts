/**
 * The nodes of a B+tree (btree.ts says what holds for them), and the way down to one key.
 */
import { restOf } from './key-parts.ts'

export interface Leaf<V> {
  prefix: string
  rests: string[]
  values: V[]
  epoch: number
}

export interface Inner<V> {
  keys: string[]
  nodes: TreeNode<V>[]
  epoch: number
}

/** Which of the two a node is follows from its depth alone: at `height` steps from the root it is a leaf. */
export type TreeNode<V> = Leaf<V> | Inner<V>

/** Index of the first of `keys` that is at or after `key`; `keys.length` when all are before it. */
export function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first of `keys` that is after `key`: also the child of an inner node under which `key` belongs. */
export function upperBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) <= key) low = middle + 1
    else high = middle
  }
  return low
}

/** A key and its value. */
export interface TreeEntry<V> {
  readonly key: string
  readonly value: V
}

/** The value of `key` in the tree under `root`, which may be that of a view. */
export function getFrom<V>(root: TreeNode<V>, height: number, key: string): V | undefined {
  let node = root
  for (let depth = height; depth > 0; depth--) {
    const inner = node as Inner<V>
    node = inner.nodes[upperBound(inner.keys, key)] as TreeNode<V>
  }
  const leaf = node as Leaf<V>
  const rest = restOf(key, leaf.prefix.length)
  const at = lowerBound(leaf.rests, rest)
  return leaf.rests[at] === rest ? leaf.values[at] : undefined
}

/** The value of the greatest key at or before `key`. */
export function floorFrom<V>(root: TreeNode<V>, height: number, key: string): V | undefined {
  let node = root
  // The last subtree left of the way down: where the answer is when the leaf has nothing at or before the key.
  let left: TreeNode<V> | undefined
  let leftHeight = 0
  for (let depth = height; depth > 0; depth--) {
    const inner = node as Inner<V>
    const index = upperBound(inner.keys, key)
    if (index > 0) {
      left = inner.nodes[index - 1]
      leftHeight = depth - 1
    }
    node = inner.nodes[index] as TreeNode<V>
  }
  const leaf = node as Leaf<V>
  const at = upperBound(leaf.rests, restOf(key, leaf.prefix.length)) - 1
  if (at >= 0) return leaf.values[at]
  if (left === undefined) return undefined
  for (; leftHeight > 0; leftHeight--) left = (left as Inner<V>).nodes.at(-1) as TreeNode<V>
  return (left as Leaf<V>).values.at(-1)
}
