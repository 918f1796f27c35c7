/**
 * The nodes of a B+tree (btree.ts), and the search for one key.
 *
 *   leaf    prefix   the common start of its keys            rests [ the rest of each key ]    heads [ heads of the rests ]
 *   inner   keys     [ separators ]                          heads [ heads of each separator behind `start` bytes ]
 *
 * A search compares heads (key-parts.ts), and strings only if two heads are equal. Heads begin behind `start` bytes that all
 * keys in the node share: a node between the separators "ToDo:3" and "ToDo:7" above it has only keys with "ToDo:". If the
 * node's own separators share at least three bytes more, the node is guarded: `start` is that longer length, and a key is
 * first compared with the first and the last separator, between which all keys share it.
 */
import { lowerBound } from '../lower-bound.ts'
import { firstNotBelow, headOf, headsOf, longRest, restOf, sameLength } from './key-parts.ts'

export interface Leaf<V> {
  prefix: string
  /** The length of the prefix, stored here so that a search need not load the string. */
  start: number
  rests: string[]
  heads: number[]
  values: V[]
  epoch: number
}

export interface Inner<V> {
  keys: string[]
  nodes: TreeNode<V>[]
  start: number
  isGuarded: boolean
  heads: number[]
  epoch: number
}

/** The depth alone decides: a node `height` steps below the root is a leaf. */
export type TreeNode<V> = Leaf<V> | Inner<V>

export function newLeaf<V>(prefix: string, rests: string[], values: V[], epoch: number): Leaf<V> {
  return { prefix, start: prefix.length, rests, heads: headsOf(rests, 0), values, epoch }
}

export function copyOfLeaf<V>({ prefix, start, rests, heads, values }: Leaf<V>, epoch: number): Leaf<V> {
  return { prefix, start, rests: rests.slice(), heads: heads.slice(), values: values.slice(), epoch }
}

export function refill<V>(leaf: Leaf<V>, prefix: string, rests: string[], values: V[]): void {
  leaf.prefix = prefix
  leaf.start = prefix.length
  leaf.rests = rests
  leaf.heads = headsOf(rests, 0)
  leaf.values = values
}

/** @param low, high - as in {@link setSeparators} */
export function newInner<V>(
  keys: string[],
  nodes: TreeNode<V>[],
  low: string | undefined,
  high: string | undefined,
  epoch: number,
): Inner<V> {
  const inner: Inner<V> = { keys, nodes, start: 0, isGuarded: true, heads: [], epoch }
  setSeparators(inner, keys, nodes, low, high)
  return inner
}

export function copyOfInner<V>(inner: Inner<V>, epoch: number): Inner<V> {
  const { keys, nodes, start, isGuarded, heads } = inner
  return { keys: keys.slice(), nodes: nodes.slice(), start, isGuarded, heads: heads.slice(), epoch }
}

/** A node is guarded if its separators share this many more bytes than the keys that may be searched in it. */
const guardedFrom = 3

/** Replaces separators and children. @param low, high - the separators before and after the node; none at an edge */
export function setSeparators<V>(
  inner: Inner<V>,
  keys: string[],
  nodes: TreeNode<V>[],
  low: string | undefined,
  high: string | undefined,
): void {
  inner.keys = keys
  inner.nodes = nodes
  const known = low === undefined || high === undefined ? 0 : sameLength(low, high)
  const own = sharedBy(keys)
  inner.isGuarded = own >= known + guardedFrom
  inner.start = inner.isGuarded ? own : known
  inner.heads = headsOf(keys, inner.start)
}

export function insertChild<V>(inner: Inner<V>, at: number, separator: string, child: TreeNode<V>): void {
  insertAt(inner.keys, at, separator)
  insertAt(inner.nodes, at + 1, child)
  if (!hasNewOuter(inner, at)) insertNumberAt(inner.heads, at, headOf(separator, inner.start))
}

export function replaceSeparator<V>(inner: Inner<V>, at: number, separator: string): void {
  inner.keys[at] = separator
  if (!hasNewOuter(inner, at)) inner.heads[at] = headOf(separator, inner.start)
}

export function removeChild<V>(inner: Inner<V>, at: number): void {
  removeAt(inner.keys, at)
  removeAt(inner.nodes, at + 1)
  removeNumberAt(inner.heads, at)
}

/** Recomputes all heads if the new separator at `at` shares less with the others than they did before. */
function hasNewOuter<V>(inner: Inner<V>, at: number): boolean {
  if (!inner.isGuarded || (at > 0 && at < inner.keys.length - 1)) return false
  const own = sharedBy(inner.keys)
  if (own >= inner.start) return false
  inner.start = own
  inner.heads = headsOf(inner.keys, own)
  return true
}

function sharedBy(keys: readonly string[]): number {
  return keys.length === 0 ? 0 : sameLength(keys[0] as string, keys[keys.length - 1] as string)
}

/** Array.prototype.splice for one element; about half its price at these lengths (measured on Node 20). */
export function insertAt<T>(array: T[], index: number, item: T): void {
  array.push(item)
  for (let i = array.length - 1; i > index; i--) array[i] = array[i - 1] as T
  array[index] = item
}

/** {@link insertAt} for numbers: they stay unboxed in code that sees nothing else. */
export function insertNumberAt(array: number[], index: number, item: number): void {
  array.push(item)
  for (let i = array.length - 1; i > index; i--) array[i] = array[i - 1] as number
  array[index] = item
}

export function removeAt<T>(array: T[], index: number): void {
  const last = array.length - 1
  for (let i = index; i < last; i++) array[i] = array[i + 1] as T
  array.pop()
}

export function removeNumberAt(array: number[], index: number): void {
  const last = array.length - 1
  for (let i = index; i < last; i++) array[i] = array[i + 1] as number
  array.pop()
}

/** Index of the child of `inner` for `key`: the number of separators at or before it. */
export function childOf<V>(inner: Inner<V>, key: string): number {
  const { keys, heads } = inner
  const count = heads.length
  if (inner.isGuarded) {
    if (key < (keys[0] as string)) return 0
    if (key >= (keys[count - 1] as string)) return count
  }
  const head = headOf(key, inner.start)
  const index = firstNotBelow(heads, head)
  if (index === count || heads[index] !== head) return index
  return lowerBound(keys.length, (place) => (keys[place] as string) <= key, index)
}

/** Index of `key` in its leaf, or `~index` of the place to insert it. */
export function placeOf<V>(leaf: Leaf<V>, key: string): number {
  const { heads, rests, start } = leaf
  const head = headOf(key, start)
  const index = firstNotBelow(heads, head)
  if (index === heads.length || heads[index] !== head) return ~index
  const length = key.length - start
  if (length < longRest) return index
  const first = rests[index] as string
  if (first.length === length && key.endsWith(first)) return index
  const rest = restOf(key, start)
  const place = lowerBound(rests.length, (at) => (rests[at] as string) < rest, index)
  return rests[place] === rest ? place : ~place
}

/** Index of the first key of a leaf at or after `key`, which need not begin with the leaf's prefix. */
export function indexOf<V>(leaf: Leaf<V>, key: string): number {
  const { prefix, rests } = leaf
  if (!key.startsWith(prefix)) return key < prefix ? 0 : rests.length
  const last = rests[rests.length - 1]
  const rest = restOf(key, prefix.length)
  return last === undefined || last < rest ? rests.length : firstFrom(leaf, key)
}

export function firstFrom<V>(leaf: Leaf<V>, key: string): number {
  const place = placeOf(leaf, key)
  return place < 0 ? ~place : place
}

export function firstAfter<V>(leaf: Leaf<V>, key: string): number {
  const place = placeOf(leaf, key)
  return place < 0 ? ~place : place + 1
}

export function getFrom<V>(root: TreeNode<V>, height: number, key: string): V | undefined {
  let node = root
  for (let depth = height; depth > 0; depth--) {
    const inner = node as Inner<V>
    node = inner.nodes[childOf(inner, key)] as TreeNode<V>
  }
  const leaf = node as Leaf<V>
  const place = placeOf(leaf, key)
  return place < 0 ? undefined : leaf.values[place]
}

export function floorFrom<V>(root: TreeNode<V>, height: number, key: string): V | undefined {
  let node = root
  // The last subtree to the left of the path: it has the answer if the leaf has no key at or before `key`.
  let left: TreeNode<V> | undefined
  let leftHeight = 0
  for (let depth = height; depth > 0; depth--) {
    const inner = node as Inner<V>
    const index = childOf(inner, key)
    if (index > 0) {
      left = inner.nodes[index - 1]
      leftHeight = depth - 1
    }
    node = inner.nodes[index] as TreeNode<V>
  }
  const leaf = node as Leaf<V>
  const at = firstAfter(leaf, key) - 1
  if (at >= 0) return leaf.values[at]
  if (left === undefined) return undefined
  for (; leftHeight > 0; leftHeight--) left = (left as Inner<V>).nodes.at(-1) as TreeNode<V>
  return (left as Leaf<V>).values.at(-1)
}

/** Counts by visiting all nodes under this one. */
export function rowsUnder<V>(node: TreeNode<V>, height: number): number {
  if (height === 0) return (node as Leaf<V>).rests.length
  let rows = 0
  for (const child of (node as Inner<V>).nodes) rows += rowsUnder(child, height - 1)
  return rows
}
