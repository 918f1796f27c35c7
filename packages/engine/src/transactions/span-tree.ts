/**
 * A map from spans of rows to values, and the search for spans that overlap a given one.
 *
 *   [a, f) [b, c) [d, k)          some([c, e), …) tests [a, f) and [d, k)
 *
 * A binary search tree by start and end, in which each node knows the largest end below it. A search visits O(log n) nodes for
 * each span that it tests. The tree is balanced like a treap, with priorities from its own fixed sequence: the same operations
 * give the same tree.
 */
import type { KeyRange, RowKey } from '../storage/kv.ts'

interface Node<T> {
  readonly range: KeyRange
  readonly value: T
  readonly priority: number
  left: Node<T> | undefined
  right: Node<T> | undefined
  endMax: RowKey
}

type Tree<T> = Node<T> | undefined

export class SpanTree<T> {
  #root: Tree<T>
  #priority = 1
  #size = 0

  get size(): number {
    return this.#size
  }

  get(range: KeyRange): T | undefined {
    let node = this.#root
    for (let order = 0; node !== undefined; node = order < 0 ? node.left : node.right) {
      order = compare(range, node.range)
      if (order === 0) return node.value
    }
    return undefined
  }

  /** The span must not be in the tree. */
  add(range: KeyRange, value: T): void {
    this.#priority = (Math.imul(this.#priority, 1_664_525) + 1_013_904_223) >>> 0
    const { end: endMax } = range
    const node: Node<T> = { range, value, priority: this.#priority, left: undefined, right: undefined, endMax }
    const [before, after] = split(this.#root, range)
    this.#root = merged(merged(before, node), after)
    this.#size++
  }

  /** The span must be in the tree. */
  delete(range: KeyRange): void {
    this.#root = removed(this.#root, range)
    this.#size--
  }

  /** Whether `is` holds for a span that overlaps `range`; tests them in order. `is` must not change the tree. */
  some(range: KeyRange, is: (value: T, range: KeyRange) => boolean): boolean {
    return some(this.#root, range, is)
  }

  ranges(): readonly KeyRange[] {
    const ranges: KeyRange[] = []
    const walk = (node: Tree<T>): void => {
      if (node === undefined) return
      walk(node.left)
      ranges.push(node.range)
      walk(node.right)
    }
    walk(this.#root)
    return ranges
  }
}

function some<T>(node: Tree<T>, range: KeyRange, is: (value: T, range: KeyRange) => boolean): boolean {
  if (node === undefined || node.endMax <= range.start) return false
  if (some(node.left, range, is)) return true
  if (node.range.start >= range.end) return false
  if (range.start < node.range.end && is(node.value, node.range)) return true
  return some(node.right, range, is)
}

function compare(a: KeyRange, b: KeyRange): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1
  if (a.end !== b.end) return a.end < b.end ? -1 : 1
  return 0
}

function removed<T>(node: Tree<T>, range: KeyRange): Tree<T> {
  if (node === undefined) return undefined
  const order = compare(range, node.range)
  if (order === 0) return merged(node.left, node.right)
  if (order < 0) node.left = removed(node.left, range)
  else node.right = removed(node.right, range)
  return settled(node)
}

/** The spans before and after `at`, which is not in the tree. */
function split<T>(node: Tree<T>, at: KeyRange): [Tree<T>, Tree<T>] {
  if (node === undefined) return [undefined, undefined]
  if (compare(node.range, at) < 0) {
    const [before, after] = split(node.right, at)
    node.right = before
    return [settled(node), after]
  }
  const [before, after] = split(node.left, at)
  node.left = after
  return [before, settled(node)]
}

function merged<T>(before: Tree<T>, after: Tree<T>): Tree<T> {
  if (before === undefined) return after
  if (after === undefined) return before
  if (before.priority > after.priority) {
    before.right = merged(before.right, after)
    return settled(before)
  }
  after.left = merged(before, after.left)
  return settled(after)
}

function settled<T>(node: Node<T>): Node<T> {
  const { left, right } = node
  let endMax = node.range.end
  if (left !== undefined && left.endMax > endMax) endMax = left.endMax
  if (right !== undefined && right.endMax > endMax) endMax = right.endMax
  node.endMax = endMax
  return node
}
