/**
 * A copy-on-write B+tree from byte strings to values: the ordered map of memory-kv and of the row cache.
 *
 *   inner   keys [ –    k1   k2 ]     items [ c0  c1  c2 ]     everything in c1 is >= k1 and < k2; the first key bounds nothing
 *   leaf    keys [ ascending    ]     items [ a value for each ]
 *
 * With ToDo:1 … ToDo:9 and at most four keys a node, the root has the keys –, ToDo:4 and ToDo:7: a search for ToDo:5 goes to
 * the second child. All leaves are at one depth, and every node except the root is at least a quarter full.
 *
 * A view, the tree at one moment, costs O(1): it keeps the root. Each node has the epoch in which it was made, and the first write after a view begins
 * the next epoch. A write changes nodes of its own epoch in place, and copies older ones on its path.
 *
 * Keys ascend strictly over the leaves from left to right, and the keys of inner nodes bound their children as drawn.
 * B4  A node that an open view can reach, or another tree, is never changed.     test/property/memory-kv.test.ts
 *
 * A node that grew at its end is cut three to one instead of in the middle, since keys such as log positions arrive in order.
 * Nodes that keep the common prefix of their keys once, and numbers beside keys, were measured and left out:
 * docs/decisions/0002-memory-store.md.
 */
import { flatText } from '../encoding/bytes.ts'
import { invariant } from '../invariant.ts'

export interface TreeNode<V> {
  /** 0 = a leaf. */
  readonly height: number
  keys: string[]
  items: (V | TreeNode<V>)[]
  /** Rows under it. */
  rows: number
  readonly epoch: number
}

/** The tree at the moment of the view. Release it after use: while a view is open, writers copy. */
export interface TreeView<V> {
  readonly root: TreeNode<V>
  readonly epoch: number
}

/** Best of 16 to 128, with and without an open view (decision 0002). */
const defaultNodeCapacity = 64

/** Index of the first key that is not before `key`; their number if all are. */
export function firstFrom(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the child of an inner node that has the place of `key`: the last one whose key is not after it. */
export function childOf({ keys }: TreeNode<unknown>, key: string): number {
  let low = 0
  let high = keys.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((keys[middle] as string) <= key) low = middle
    else high = middle - 1
  }
  return low
}

export function valueIn<V>(root: TreeNode<V>, key: string): V | undefined {
  let node = root
  while (node.height > 0) node = node.items[childOf(node, key)] as TreeNode<V>
  const at = firstFrom(node.keys, key)
  return node.keys[at] === key ? (node.items[at] as V) : undefined
}

/** The value of the last key at or before `key`. */
export function floorIn<V>(node: TreeNode<V>, key: string): V | undefined {
  if (node.height === 0) {
    const at = firstFrom(node.keys, key)
    return node.items[node.keys[at] === key ? at : at - 1] as V | undefined
  }
  for (let at = childOf(node, key); at >= 0; at--) {
    const found = floorIn(node.items[at] as TreeNode<V>, key)
    if (found !== undefined) return found
  }
  return undefined
}

export class BTree<V> {
  readonly #capacity: number
  readonly #minimum: number
  #root: TreeNode<V>
  #epoch = 0
  /** The last epoch of this tree, its forks and those it was forked from. */
  readonly #epochs: { last: number }
  /** Open views of this epoch. Without any, nodes of this epoch may be changed in place. */
  #views = 0
  /** The nodes of the last path, from the root to the leaf, and the child taken in each. */
  #path: TreeNode<V>[] = []
  readonly #taken: number[] = []

  /** @param capacity - most keys of a node, at least 4; small ones are for tests */
  constructor(capacity: number = defaultNodeCapacity, epochs: { last: number } = { last: 0 }) {
    invariant(capacity >= 4, `a node capacity of ${capacity} is less than 4`)
    this.#capacity = capacity
    this.#minimum = Math.max(2, capacity >> 2)
    this.#epochs = epochs
    this.#root = this.#emptyLeaf()
  }

  get size(): number {
    return this.#root.rows
  }

  get root(): TreeNode<V> {
    return this.#root
  }

  get(key: string): V | undefined {
    return valueIn(this.#root, key)
  }

  /** A view of the present state, in O(1). Call {@link release} once for each. */
  view(): TreeView<V> {
    this.#views++
    return { root: this.#root, epoch: this.#epoch }
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

  /**
   * Resets the tree to a view, which can be used again.
   *
   * @param view - of this tree, or of a related one that called {@link leave}
   */
  restore(view: TreeView<V>): void {
    this.#nextEpoch()
    this.#root = view.root
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
    this.#root = this.#emptyLeaf()
  }

  /** @returns the replaced value */
  set(key: string, value: V): V | undefined {
    const leaf = this.#ownLeaf(key)
    const at = firstFrom(leaf.keys, key)
    if (leaf.keys[at] === key) {
      const replaced = leaf.items[at] as V
      leaf.items[at] = value
      return replaced
    }
    insert(leaf, at, flatText(key), value)
    for (const node of this.#path) node.rows++
    if (leaf.keys.length > this.#capacity) this.#split(at)
    return undefined
  }

  /** @returns the deleted value; `undefined` if there was no such key */
  delete(key: string): V | undefined {
    const leaf = this.#ownLeaf(key)
    const at = firstFrom(leaf.keys, key)
    if (leaf.keys[at] !== key) return undefined
    const deleted = leaf.items[at] as V
    remove(leaf, at, 1)
    for (const node of this.#path) node.rows--
    if (leaf.keys.length < this.#minimum) this.#refill(key)
    return deleted
  }

  /** Deletes the keys from `start` to before `end`, whole subtrees at a time. */
  deleteRange(start: string, end: string): void {
    if (start >= end) return
    this.#ownLeaf(start)
    this.#cutOut(this.#root, start, end)
    this.#refill(start)
    this.#refill(end)
  }

  /** @param start - `undefined` = from the first key of the node on; `end` `undefined` = to its last one */
  #cutOut(node: TreeNode<V>, start: string | undefined, end: string | undefined): void {
    const { keys, height } = node
    if (height === 0) {
      const first = start === undefined ? 0 : firstFrom(keys, start)
      remove(node, first, (end === undefined ? keys.length : firstFrom(keys, end)) - first)
    } else {
      const first = start === undefined ? -1 : childOf(node, start)
      const last = end === undefined ? keys.length : childOf(node, end)
      if (first === last) this.#cutOut(this.#ownChild(node, first), start, end)
      else {
        if (first >= 0) this.#cutOut(this.#ownChild(node, first), start, undefined)
        if (last < keys.length) this.#cutOut(this.#ownChild(node, last), undefined, end)
        remove(node, first + 1, last - first - 1)
        // Later keys before the removed children go to the first one left.
        if (first < 0) keys[0] = ''
      }
    }
    node.rows = rowsOf(node)
  }

  /** Joins nodes on the path to `key` with a neighbour until each is at least a quarter full. */
  #refill(key: string): void {
    for (;;) {
      while (this.#root.height > 0 && this.#root.items.length === 1) this.#root = this.#root.items[0] as TreeNode<V>
      this.#ownLeaf(key)
      const depth = this.#path.findIndex((node, at) => at > 0 && node.keys.length < this.#minimum)
      if (depth < 0) return
      this.#join(this.#path[depth - 1] as TreeNode<V>, Math.max(0, (this.#taken[depth - 1] as number) - 1))
    }
  }

  /** Joins the children `at` and `at + 1` to one, or to two of equal size if that would be too large. */
  #join(parent: TreeNode<V>, at: number): void {
    const left = this.#ownChild(parent, at)
    const right = parent.items[at + 1] as TreeNode<V>
    if (right.height > 0) left.keys.push(parent.keys[at + 1] as string, ...right.keys.slice(1))
    else left.keys.push(...right.keys)
    left.items.push(...right.items)
    left.rows += right.rows
    remove(parent, at + 1, 1)
    const { length } = left.keys
    if (length > this.#capacity) this.#cut(parent, at, length >> 1)
  }

  /** Cuts child `at` before its entry `cut`; the rest becomes the next child. */
  #cut(parent: TreeNode<V>, at: number, cut: number): void {
    const left = parent.items[at] as TreeNode<V>
    const { height, epoch } = left
    const right: TreeNode<V> = { height, keys: left.keys.slice(cut), items: left.items.slice(cut), rows: 0, epoch }
    left.keys.length = cut
    left.items.length = cut
    right.rows = rowsOf(right)
    left.rows -= right.rows
    insert(parent, at + 1, right.keys[0] as string, right)
  }

  /** Splits the leaf of the path, and the nodes above it that become too large. @param at - where the leaf grew */
  #split(at: number): void {
    for (let depth = this.#path.length - 1; ; depth--) {
      const node = this.#path[depth] as TreeNode<V>
      const { length } = node.keys
      if (length <= this.#capacity) return
      if (depth === 0) {
        const { height, rows } = node
        this.#root = { height: height + 1, keys: [''], items: [node], rows, epoch: this.#epoch }
      }
      const parent = depth === 0 ? this.#root : (this.#path[depth - 1] as TreeNode<V>)
      const place = depth === 0 ? 0 : (this.#taken[depth - 1] as number)
      const cut = at === length - 1 ? length - this.#minimum : at === 0 ? this.#minimum : length >> 1
      this.#cut(parent, place, cut)
      if (depth === 0) return
      at = place === 0 ? 0 : place + 1
    }
  }

  #emptyLeaf(): TreeNode<V> {
    return { height: 0, keys: [], items: [], rows: 0, epoch: this.#epoch }
  }

  #nextEpoch(): void {
    this.#epoch = ++this.#epochs.last
    this.#views = 0
  }

  /** The leaf for `key`, ready to be changed together with all nodes above it, which are in the path. */
  #ownLeaf(key: string): TreeNode<V> {
    if (this.#views > 0) this.#nextEpoch()
    if (this.#root.epoch !== this.#epoch) this.#root = this.#copyOf(this.#root)
    let node = this.#root
    if (this.#path.length !== node.height + 1) this.#path = new Array(node.height + 1).fill(node)
    for (let depth = 0; node.height > 0; depth++) {
      const at = childOf(node, key)
      this.#path[depth] = node
      this.#taken[depth] = at
      node = this.#ownChild(node, at)
    }
    this.#path[this.#path.length - 1] = node
    return node
  }

  #ownChild(node: TreeNode<V>, at: number): TreeNode<V> {
    const child = node.items[at] as TreeNode<V>
    if (child.epoch === this.#epoch) return child
    const copy = this.#copyOf(child)
    node.items[at] = copy
    return copy
  }

  #copyOf({ height, keys, items, rows }: TreeNode<V>): TreeNode<V> {
    return { height, keys: keys.slice(), items: items.slice(), rows, epoch: this.#epoch }
  }
}

function rowsOf<V>({ height, keys, items }: TreeNode<V>): number {
  if (height === 0) return keys.length
  return (items as TreeNode<V>[]).reduce((sum, { rows }) => sum + rows, 0)
}

/** About half the price of splice() at these lengths (measured on Node 20). */
function insert<V>({ keys, items }: TreeNode<V>, at: number, key: string, item: V | TreeNode<V>): void {
  keys.push(key)
  items.push(item)
  for (let i = keys.length - 1; i > at; i--) {
    keys[i] = keys[i - 1] as string
    items[i] = items[i - 1] as V
  }
  keys[at] = key
  items[at] = item
}

function remove<V>({ keys, items }: TreeNode<V>, at: number, count: number): void {
  keys.splice(at, count)
  items.splice(at, count)
}
