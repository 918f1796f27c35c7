/**
 * A cursor over the rows of a B+tree inside a range, forwards or backwards, with seek.
 *
 *   path, taken   the inner nodes above the current leaf, and the child taken in each
 *   at, stop      in the leaf: the next row, and the place after the last one of the range, in scan order
 *
 * A scan of [ToDo:2, ToDo:8) backwards in a leaf with ToDo:1 … ToDo:9 begins with `at` 6 (ToDo:7) and `stop` 0 (ToDo:1).
 */
import { childOf, firstFrom, type TreeNode } from './btree.ts'
import type { KeyRange, RowKey } from './kv.ts'

export interface TreeRow<V> {
  readonly key: RowKey
  readonly value: V
}

export class TreeScan<V> {
  readonly #root: TreeNode<V>
  readonly #range: KeyRange
  readonly #by: 1 | -1
  readonly #path: TreeNode<V>[] = []
  readonly #taken: number[] = []
  /** `undefined` at the end of the tree. */
  #leaf: TreeNode<V> | undefined
  #at = 0
  #stop = 0
  /** The target of a seek. next() looks it up, so that opening and seeking together cost one search. */
  #target: RowKey | undefined

  constructor(root: TreeNode<V>, range: KeyRange, reverse: boolean) {
    this.#root = root
    this.#range = range
    this.#by = reverse ? -1 : 1
    this.#target = reverse ? range.end : range.start
  }

  /** Moves to the first row at or after `key` in scan order, inside the range. */
  seek(key: RowKey): void {
    const { start, end } = this.#range
    if (this.#by === 1) this.#target = key > start ? key : start
    else this.#target = key < end ? key : end
  }

  /** Up to `count` rows in scan order; none at the end of the range. */
  next(count: number): TreeRow<V>[] {
    const rows: TreeRow<V>[] = []
    if (this.#target !== undefined) this.#settle(this.#target)
    this.#target = undefined
    const by = this.#by
    for (let leaf = this.#leaf; leaf !== undefined; ) {
      const { keys, items } = leaf
      const stop = this.#stop
      let at = this.#at
      for (; (stop - at) * by > 0 && rows.length < count; at += by) {
        rows.push({ key: keys[at] as RowKey, value: items[at] as V })
      }
      this.#at = at
      if (rows.length >= count) break
      // A stop inside the leaf is the end of the range.
      leaf = stop === (by === 1 ? keys.length : -1) ? this.#neighbour() : undefined
      if (leaf !== undefined) this.#enter(leaf, by === 1 ? 0 : leaf.keys.length - 1)
      this.#leaf = leaf
    }
    return rows
  }

  #settle(key: RowKey): void {
    const leaf = this.#leafFor(key)
    const at = firstFrom(leaf.keys, key)
    // Backwards the end of the range is outside of it.
    const isRow = leaf.keys[at] === key && key < this.#range.end
    this.#enter(leaf, this.#by === 1 || isRow ? at : at - 1)
  }

  #enter(leaf: TreeNode<V>, at: number): void {
    const { start, end } = this.#range
    this.#leaf = leaf
    this.#at = at
    this.#stop = this.#by === 1 ? firstFrom(leaf.keys, end) : firstFrom(leaf.keys, start) - 1
  }

  /** The current leaf if the key is between its first and last one, else the key's leaf. */
  #leafFor(key: RowKey): TreeNode<V> {
    const keys = this.#leaf?.keys ?? []
    const [first, last] = [keys[0], keys[keys.length - 1]]
    if (first !== undefined && last !== undefined && first <= key && key <= last) return this.#leaf as TreeNode<V>
    return this.#descend(this.#root, 0, (node) => childOf(node, key))
  }

  #descend(from: TreeNode<V>, depth: number, choose: (node: TreeNode<V>) => number): TreeNode<V> {
    let node = from
    for (let at = depth; node.height > 0; at++) {
      this.#path[at] = node
      this.#taken[at] = choose(node)
      node = node.items[this.#taken[at] as number] as TreeNode<V>
    }
    return node
  }

  /** The leaf beside the current one, in scan order; `undefined` at the edge of the tree. */
  #neighbour(): TreeNode<V> | undefined {
    const by = this.#by
    for (let depth = this.#root.height - 1; depth >= 0; depth--) {
      const at = (this.#taken[depth] as number) + by
      const child = (this.#path[depth] as TreeNode<V>).items[at] as TreeNode<V> | undefined
      if (child === undefined) continue
      this.#taken[depth] = at
      return this.#descend(child, depth + 1, ({ keys }) => (by === 1 ? 0 : keys.length - 1))
    }
    return undefined
  }
}
