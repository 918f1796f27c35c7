/**
 * A cursor over a view of a B+tree, forwards or backwards inside a range, with seek.
 *
 *   leaf     the current leaf; `undefined` before the first step and after the last
 *   at       index in the leaf of the next row in scan order
 *   stop     index at which this leaf or the range ends: forwards the rows are `at` … `stop` - 1, backwards `at` down to
 *            `stop` + 1
 *   path     inner nodes above the leaf, and the child taken in each
 *
 * The end of the range is searched once per leaf, not once per row. A seek starts at the root.
 */
import { childOf, firstAfter, firstFrom, type Inner, indexOf, type Leaf, type TreeNode } from './btree-node.ts'
import type { KeyRange, RowKey } from './kv.ts'

export interface TreeRow<V> {
  readonly key: RowKey
  readonly value: V
}

interface ScannedView<V> {
  readonly root: TreeNode<V>
  readonly height: number
}

interface ViewOwner<V> {
  release(view: ScannedView<V>): void
}

export class TreeScan<V> {
  readonly #view: ScannedView<V>
  readonly #owner: ViewOwner<V> | undefined
  readonly #start: RowKey
  readonly #end: RowKey
  readonly #reverse: boolean
  readonly #path: Inner<V>[] = []
  readonly #taken: number[] = []
  #leaf: Leaf<V> | undefined
  #at = 0
  #stop = 0
  /** The target of a seek. next() looks it up, so that opening and seeking together cost one search. */
  #pending: RowKey | undefined
  /** Backwards: whether the row at the target is in the range. */
  #pendingInclusive = false
  #isClosed = false

  /** @param owner - gets the view back when the scan is closed */
  constructor(view: ScannedView<V>, range: KeyRange, reverse: boolean, owner?: ViewOwner<V>) {
    this.#view = view
    this.#owner = owner
    this.#start = range.start
    this.#end = range.end
    this.#reverse = reverse
    this.#pending = reverse ? range.end : range.start
  }

  /** Moves to the first row at or after `key` in scan order, inside the range, also behind the current row. */
  seek(key: RowKey): void {
    if (this.#reverse) {
      this.#pendingInclusive = key < this.#end
      this.#pending = this.#pendingInclusive ? key : this.#end
    } else {
      this.#pending = key > this.#start ? key : this.#start
    }
  }

  /** Up to `count` rows in scan order; none at the end of the range, or when the scan is closed. */
  next(count: number): TreeRow<V>[] {
    const rows: TreeRow<V>[] = []
    if (this.#isClosed) return rows
    if (this.#pending !== undefined) {
      this.#settle(this.#pending)
      this.#pending = undefined
    }
    const by = this.#reverse ? -1 : 1
    for (let leaf = this.#leaf; leaf !== undefined; leaf = this.#leaf) {
      const { prefix, rests, values } = leaf
      let at = this.#at
      const taken = Math.min(count - rows.length, this.#reverse ? at - this.#stop : this.#stop - at)
      for (let i = 0; i < taken; i++, at += by) rows.push({ key: prefix + rests[at], value: values[at] as V })
      this.#at = at
      if (rows.length >= count) return rows
      // A stop inside the leaf is the end of the range, and so is a leaf that ends at or after it.
      this.#leaf = this.#stop === (this.#reverse ? -1 : rests.length) ? this.#step(by) : undefined
      if (this.#leaf === undefined) return rows
      this.#at = this.#reverse ? this.#leaf.rests.length - 1 : 0
      this.#stop = this.#stopIn(this.#leaf)
    }
    return rows
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#owner?.release(this.#view)
  }

  #settle(key: RowKey): void {
    const leaf = this.#descend(key)
    this.#leaf = leaf
    this.#at = this.#pendingInclusive ? firstAfter(leaf, key) : firstFrom(leaf, key)
    if (this.#reverse) this.#at--
    this.#stop = this.#stopIn(leaf)
  }

  #stopIn(leaf: Leaf<V>): number {
    return this.#reverse ? indexOf(leaf, this.#start) - 1 : indexOf(leaf, this.#end)
  }

  #descend(key: RowKey): Leaf<V> {
    const { root, height } = this.#view
    let node = root
    for (let depth = 0; depth < height; depth++) {
      const inner = node as Inner<V>
      const index = childOf(inner, key)
      this.#path[depth] = inner
      this.#taken[depth] = index
      node = inner.nodes[index] as TreeNode<V>
    }
    return node as Leaf<V>
  }

  /** The neighbouring leaf, to the right (1) or left (-1); `undefined` at the edge of the tree. */
  #step(by: 1 | -1): Leaf<V> | undefined {
    for (let depth = this.#view.height - 1; depth >= 0; depth--) {
      const index = (this.#taken[depth] as number) + by
      let node = (this.#path[depth] as Inner<V>).nodes[index]
      if (node === undefined) continue
      this.#taken[depth] = index
      for (let below = depth + 1; below < this.#view.height; below++) {
        const inner = node as Inner<V>
        const edge = by === 1 ? 0 : inner.nodes.length - 1
        this.#path[below] = inner
        this.#taken[below] = edge
        node = inner.nodes[edge] as TreeNode<V>
      }
      return node as Leaf<V>
    }
    return undefined
  }
}
