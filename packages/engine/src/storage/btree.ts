/**
 * A copy-on-write B+tree from byte strings to values: the ordered map of memory-kv and of the row cache.
 *
 *   inner   keys  [ k1    k2    k3 ]          everything in children[i] is < keys[i] <= everything in children[i + 1]
 *           nodes [c0   c1    c2   c3]
 *   leaf    rests [ ascending, distinct ]     values [ one for each key ]       key = prefix + rest
 *
 * A leaf between the separators "ToDo:1" and "ToDo:2" stores their common prefix "ToDo:" once, and the rest of each key. Separators
 * are no longer than needed to tell their neighbours apart. For the search in a node see btree-node.ts.
 *
 * All leaves are at one depth, `height` steps below the root. Every other node is at least a quarter full. Each node has the
 * epoch in which it was made. A view costs O(1): it keeps the root, and the next write begins a new epoch if the view is
 * still open. A write changes nodes of its own epoch in place and copies older ones on its path.
 *
 * B1  Keys ascend strictly over the leaves from left to right, and separators bound their children as drawn above.
 * B4  A node that an open view can reach, or another tree, is never changed.     both: test/property/memory-kv.test.ts
 *
 * Ours: the uneven split. Keys that arrive in ascending or descending order (log positions) always hit one end of one leaf; a
 * cut of three to one instead of in the middle keeps the leaves behind them fuller.
 */
import { invariant } from '../invariant.ts'
import {
  childOf,
  copyOfInner,
  copyOfLeaf,
  firstFrom,
  getFrom,
  type Inner,
  indexOf,
  insertAt,
  insertChild,
  insertNumberAt,
  type Leaf,
  newInner,
  newLeaf,
  placeOf,
  refill,
  removeAt,
  removeChild,
  removeNumberAt,
  replaceSeparator,
  rowsUnder,
  setSeparators,
  type TreeNode,
} from './btree-node.ts'
import { headOf, ownRest, prefixBetween, rebased, separatorOf } from './key-parts.ts'

/** The tree at the moment of the view. Release it after use: while a view is open, writers copy. */
export interface TreeView<V> {
  readonly root: TreeNode<V>
  readonly height: number
  /** NaN = not counted. */
  readonly size: number
  readonly epoch: number
}

/** Measured: 64 and 128 keys are best in all calls, and 64 copies less while a view is open (decision 0002). */
export const defaultNodeCapacity = 64

export class BTree<V> {
  readonly #capacity: number
  readonly #minimum: number
  /** Changed by the tree alone. */
  root: TreeNode<V>
  height = 0
  /** Number of rows; NaN after whole subtrees were removed: counted at the next use. */
  #size = 0
  #epoch = 0
  /** The last epoch of all trees that were forked from each other, since they share nodes. */
  readonly #epochs: { last: number }
  /** Open views of this epoch. Without any, nodes of this epoch may be changed in place. */
  #views = 0
  /** The inner nodes of the last path, and the child taken in each. */
  readonly #path: Inner<V>[] = []
  readonly #taken: number[] = []

  /** @param capacity - most keys of a leaf, and most children of an inner node; at least 4 */
  constructor(capacity: number = defaultNodeCapacity, epochs: { last: number } = { last: 0 }) {
    invariant(capacity >= 4, `a node capacity of ${capacity} is less than 4`)
    this.#capacity = capacity
    this.#minimum = Math.max(2, capacity >> 2)
    this.#epochs = epochs
    this.root = this.#emptyLeaf()
  }

  get size(): number {
    if (Number.isNaN(this.#size)) this.#size = rowsUnder(this.root, this.height)
    return this.#size
  }

  get(key: string): V | undefined {
    return getFrom(this.root, this.height, key)
  }

  /** A view of the present state, in O(1). Call {@link release} once for each. */
  view(): TreeView<V> {
    this.#views++
    return { root: this.root, height: this.height, size: this.#size, epoch: this.#epoch }
  }

  /** Adds a user to an open view; each user must release it. */
  share(view: TreeView<V>): TreeView<V> {
    if (view.epoch === this.#epoch) this.#views++
    return view
  }

  release(view: TreeView<V>): void {
    if (view.epoch === this.#epoch) this.#views--
  }

  /** From now on the tree copies the nodes of the view, which must be its own, as if it were open for ever. */
  leave(view: TreeView<V>): void {
    if (view.epoch === this.#epoch) this.#nextEpoch()
  }

  /** Resets the tree to a view of it, or of a related one that called {@link leave}; the view can be used again. */
  restore(view: TreeView<V>): void {
    this.#nextEpoch()
    this.root = view.root
    this.height = view.height
    this.#size = view.size
  }

  /** Whether one was forked from the other, or both from a third. */
  isKinOf(other: BTree<V>): boolean {
    return this.#epochs === other.#epochs
  }

  /** A new tree with the content of the view, in O(1). The view must be of this tree. */
  fork(view: TreeView<V>): BTree<V> {
    this.leave(view)
    const tree = new BTree<V>(this.#capacity, this.#epochs)
    tree.restore(view)
    return tree
  }

  clear(): void {
    this.#nextEpoch()
    this.root = this.#emptyLeaf()
    this.height = 0
    this.#size = 0
  }

  /** @returns the replaced value */
  set(key: string, value: V): V | undefined {
    const leaf = this.#ownLeaf(key)
    const place = placeOf(leaf, key)
    if (place >= 0) {
      const replaced = leaf.values[place]
      leaf.values[place] = value
      return replaced
    }
    const at = ~place
    insertAt(leaf.rests, at, ownRest(key, leaf.start))
    insertNumberAt(leaf.heads, at, headOf(key, leaf.start))
    insertAt(leaf.values, at, value)
    this.#size++
    if (leaf.rests.length > this.#capacity) this.#splitLeaf(leaf, at)
    return undefined
  }

  /** @returns the deleted value; `undefined` if there was no such key */
  delete(key: string): V | undefined {
    const leaf = this.#ownLeaf(key)
    const at = placeOf(leaf, key)
    if (at < 0) return undefined
    const deleted = leaf.values[at]
    removeAt(leaf.rests, at)
    removeNumberAt(leaf.heads, at)
    removeAt(leaf.values, at)
    this.#size--
    if (leaf.rests.length < this.#minimum) this.#refillLeaf(leaf)
    return deleted
  }

  /** Deletes the keys from `start` to before `end`, for the cost of a few searches. */
  deleteRange(start: string, end: string): void {
    for (let from: string | undefined = start; from !== undefined && from < end; ) {
      const leaf = this.#ownLeaf(from)
      this.#dropBehind(end)
      const depth = this.height - 1
      const index = this.#taken[depth] ?? 0
      const high = this.#highOf(depth, index)
      const first = firstFrom(leaf, from)
      const count = indexOf(leaf, end) - first
      leaf.rests.splice(first, count)
      leaf.values.splice(first, count)
      this.#size -= count
      const prefix = prefixBetween(this.#lowOf(depth, index), high)
      refill(leaf, prefix, rebased(leaf.prefix, leaf.rests, prefix), leaf.values)
      this.#refillWay(from)
      from = high
    }
  }

  /**
   * Removes the subtrees behind the path that end at or before `end`. If a child is removed at one depth, everything behind the
   * path in the nodes below is before that child, so it is removed too.
   */
  #dropBehind(end: string): void {
    let hasChanged = false
    for (let depth = 0; depth < this.height; depth++) {
      const inner = this.#path[depth] as Inner<V>
      const { keys, nodes } = inner
      const at = this.#taken[depth] as number
      let behind = at + 1
      for (; behind < nodes.length; behind++) {
        const high = this.#highOf(depth, behind)
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
      const place = this.#taken[depth - 1] ?? 0
      setSeparators(inner, keys, nodes, this.#lowOf(depth - 1, place), this.#highOf(depth - 1, place))
    }
    if (hasChanged) this.#size = Number.NaN
  }

  /** Refills every node on the path to `key` that is less than a quarter full, from the root down. */
  #refillWay(key: string): void {
    for (;;) {
      while (this.height > 0 && (this.root as Inner<V>).nodes.length === 1) {
        this.root = (this.root as Inner<V>).nodes[0] as TreeNode<V>
        this.height--
      }
      const leaf = this.#ownLeaf(key)
      const isThin = ({ nodes }: Inner<V>, at: number): boolean =>
        at > 0 && at < this.height && nodes.length < this.#minimum
      const depth = this.#path.findIndex(isThin)
      if (depth > 0) this.#refillInner(this.#path[depth] as Inner<V>, depth)
      else if (this.height > 0 && leaf.rests.length < this.#minimum) this.#refillLeaf(leaf)
      else return
    }
  }

  #emptyLeaf(): Leaf<V> {
    return newLeaf('', [], [], this.#epoch)
  }

  #nextEpoch(): void {
    this.#epoch = ++this.#epochs.last
    this.#views = 0
  }

  /** The leaf for `key`, ready to be changed together with all nodes above it, which are in the path. */
  #ownLeaf(key: string): Leaf<V> {
    if (this.#views > 0) this.#nextEpoch()
    const epoch = this.#epoch
    const height = this.height
    let node = this.root
    if (node.epoch !== epoch) {
      node = this.#copyOf(node, height === 0)
      this.root = node
    }
    for (let depth = 0; depth < height; depth++) {
      const inner = node as Inner<V>
      const index = childOf(inner, key)
      let child = inner.nodes[index] as TreeNode<V>
      if (child.epoch !== epoch) {
        child = this.#copyOf(child, depth + 1 === height)
        inner.nodes[index] = child
      }
      this.#path[depth] = inner
      this.#taken[depth] = index
      node = child
    }
    return node as Leaf<V>
  }

  #copyOf(node: TreeNode<V>, isLeaf: boolean): TreeNode<V> {
    return isLeaf ? copyOfLeaf(node as Leaf<V>, this.#epoch) : copyOfInner(node as Inner<V>, this.#epoch)
  }

  /** Where to split `length` entries if the newest one is at `inserted`. */
  #cut(length: number, inserted: number): number {
    if (inserted === length - 1) return length - this.#minimum
    if (inserted === 0) return this.#minimum
    return length >> 1
  }

  /** The separator at or before all of child `index` of the inner node at `depth` of the path; none at the edge. */
  #lowOf(depth: number, index: number): string | undefined {
    for (let at = index; depth >= 0; at = this.#taken[--depth] as number) {
      if (at > 0) return (this.#path[depth] as Inner<V>).keys[at - 1]
    }
    return undefined
  }

  #highOf(depth: number, index: number): string | undefined {
    for (let at = index; depth >= 0; at = this.#taken[--depth] as number) {
      const { keys } = this.#path[depth] as Inner<V>
      if (at < keys.length) return keys[at]
    }
    return undefined
  }

  #splitLeaf(leaf: Leaf<V>, inserted: number): void {
    const { prefix, rests, values } = leaf
    const cut = this.#cut(rests.length, inserted)
    const separator = separatorOf(prefix + rests[cut - 1], prefix + rests[cut])
    const depth = this.height - 1
    const index = this.#taken[depth] ?? 0
    const low = this.#lowOf(depth, index)
    const high = this.#highOf(depth, index)
    const rightPrefix = prefixBetween(separator, high)
    const right = newLeaf(rightPrefix, rebased(prefix, rests.slice(cut), rightPrefix), values.slice(cut), this.#epoch)
    const leftPrefix = prefixBetween(low, separator)
    rests.length = cut
    values.length = cut
    refill(leaf, leftPrefix, rebased(prefix, rests, leftPrefix), values)
    this.#insertNode(leaf, separator, right)
  }

  /** Inserts `right` beside `left`, the last node of the path, and splits full nodes upwards. */
  #insertNode(left: TreeNode<V>, separator: string, right: TreeNode<V>): void {
    for (let depth = this.height - 1; depth >= 0; depth--) {
      const parent = this.#path[depth] as Inner<V>
      const index = this.#taken[depth] as number
      insertChild(parent, index, separator, right)
      const { keys, nodes } = parent
      if (nodes.length <= this.#capacity) return
      const cut = this.#cut(nodes.length, index === 0 ? 0 : index + 1)
      separator = keys[cut - 1] as string
      const place = this.#taken[depth - 1] ?? 0
      const high = this.#highOf(depth - 1, place)
      const sibling = newInner(keys.slice(cut), nodes.slice(cut), separator, high, this.#epoch)
      keys.length = cut - 1
      nodes.length = cut
      setSeparators(parent, keys, nodes, this.#lowOf(depth - 1, place), separator)
      left = parent
      right = sibling
    }
    this.root = newInner([separator], [left, right], undefined, undefined, this.#epoch)
    this.height++
  }

  /** The child at `at`, ready to be changed. */
  #ownChild(parent: Inner<V>, at: number, isLeaf: boolean): TreeNode<V> {
    const child = parent.nodes[at] as TreeNode<V>
    if (child.epoch === this.#epoch) return child
    const copy = this.#copyOf(child, isLeaf)
    parent.nodes[at] = copy
    return copy
  }

  #refillLeaf(leaf: Leaf<V>): void {
    if (this.height === 0) return
    const depth = this.height - 1
    const parent = this.#path[depth] as Inner<V>
    const index = this.#taken[depth] as number
    const at = index > 0 ? index - 1 : 0
    const left = index > 0 ? (this.#ownChild(parent, at, true) as Leaf<V>) : leaf
    const right = index > 0 ? leaf : (this.#ownChild(parent, 1, true) as Leaf<V>)
    const low = this.#lowOf(depth, at)
    const high = this.#highOf(depth, at + 1)
    const prefix = prefixBetween(low, high)
    const rests = rebased(left.prefix, left.rests, prefix).concat(rebased(right.prefix, right.rests, prefix))
    const values = left.values.concat(right.values)
    if (rests.length <= this.#capacity) {
      refill(left, prefix, rests, values)
      this.#dropRight(at, depth)
      return
    }
    const half = rests.length >> 1
    const separator = separatorOf(prefix + rests[half - 1], prefix + rests[half])
    const leftPrefix = prefixBetween(low, separator)
    const rightPrefix = prefixBetween(separator, high)
    refill(left, leftPrefix, rebased(prefix, rests.slice(0, half), leftPrefix), values.slice(0, half))
    refill(right, rightPrefix, rebased(prefix, rests.slice(half), rightPrefix), values.slice(half))
    replaceSeparator(parent, at, separator)
  }

  /** Removes the right one of two merged neighbours from the parent at `depth`, and refills upwards as needed. */
  #dropRight(at: number, depth: number): void {
    const parent = this.#path[depth] as Inner<V>
    removeChild(parent, at)
    if (depth === 0) {
      if (parent.nodes.length > 1) return
      this.root = parent.nodes[0] as TreeNode<V>
      this.height--
      return
    }
    if (parent.nodes.length < this.#minimum) this.#refillInner(parent, depth)
  }

  #refillInner(inner: Inner<V>, depth: number): void {
    const parent = this.#path[depth - 1] as Inner<V>
    const index = this.#taken[depth - 1] as number
    const at = index > 0 ? index - 1 : 0
    const left = index > 0 ? (this.#ownChild(parent, at, false) as Inner<V>) : inner
    const right = index > 0 ? inner : (this.#ownChild(parent, 1, false) as Inner<V>)
    const keys = [...left.keys, parent.keys[at] as string, ...right.keys]
    const nodes = left.nodes.concat(right.nodes)
    const low = this.#lowOf(depth - 1, at)
    const high = this.#highOf(depth - 1, at + 1)
    if (nodes.length <= this.#capacity) {
      setSeparators(left, keys, nodes, low, high)
      this.#dropRight(at, depth - 1)
      return
    }
    const half = nodes.length >> 1
    const separator = keys[half - 1] as string
    setSeparators(left, keys.slice(0, half - 1), nodes.slice(0, half), low, separator)
    setSeparators(right, keys.slice(half), nodes.slice(half), separator, high)
    replaceSeparator(parent, at, separator)
  }
}
