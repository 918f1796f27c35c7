/**
 * The nodes of a B+tree (btree.ts says what holds for them), and the way down to one key.
 *
 *   leaf    prefix   what all its keys begin with            rests [ what follows it ]     heads [ their heads ]
 *   inner   keys     [ separators ]                          heads [ heads of what follows `start` in each ]
 *
 * Nodes are searched by heads (key-heads.ts), and strings are looked at where two heads are equal. All separators of an inner
 * node begin with the same `start` bytes. So does every key that is looked for there, if the node is not guarded: its
 * neighbours above say so. In a guarded one a key is first compared with the outer two separators; between them it does.
 */
import { lowerBound } from '../lower-bound.ts'
import { firstNotBelow, headOf, headsOf, isWholeInHead } from './key-heads.ts'
import { restOf, sameLength } from './key-parts.ts'

export interface Leaf<V> {
  prefix: string
  /** The length of the prefix: beside it, so that a search does not reach for the string. */
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

/** Which of the two a node is follows from its depth alone: at `height` steps from the root it is a leaf. */
export type TreeNode<V> = Leaf<V> | Inner<V>

/** A key and its value. */
export interface TreeEntry<V> {
  readonly key: string
  readonly value: V
}

export function newLeaf<V>(prefix: string, rests: string[], values: V[], epoch: number): Leaf<V> {
  return { prefix, start: prefix.length, rests, heads: headsOf(rests, 0), values, epoch }
}

export function copyOfLeaf<V>({ prefix, start, rests, heads, values }: Leaf<V>, epoch: number): Leaf<V> {
  return { prefix, start, rests: rests.slice(), heads: heads.slice(), values: values.slice(), epoch }
}

/** Gives a leaf other rows. */
export function refill<V>(leaf: Leaf<V>, prefix: string, rests: string[], values: V[]): void {
  leaf.prefix = prefix
  leaf.start = prefix.length
  leaf.rests = rests
  leaf.heads = headsOf(rests, 0)
  leaf.values = values
}

/** An inner node whose separators are not known yet; {@link setSeparators} follows. */
export function newInner<V>(epoch: number): Inner<V> {
  return { keys: [], nodes: [], start: 0, isGuarded: true, heads: [], epoch }
}

export function copyOfInner<V>(inner: Inner<V>, epoch: number): Inner<V> {
  const { keys, nodes, start, isGuarded, heads } = inner
  return { keys: keys.slice(), nodes: nodes.slice(), start, isGuarded, heads: heads.slice(), epoch }
}

/** A node whose separators have this much more in common than the keys that may be looked for there is guarded. */
const guardedFrom = 3

/**
 * Gives an inner node other separators and children.
 *
 * @param low - the separator before all of the node, and `high` that after it; `undefined` at the edge of the tree
 */
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

/** Puts in a separator and the child after it. */
export function insertChild<V>(inner: Inner<V>, at: number, separator: string, child: TreeNode<V>): void {
  insertAt(inner.keys, at, separator)
  insertAt(inner.nodes, at + 1, child)
  if (!hasNewOuter(inner, at)) insertNumberAt(inner.heads, at, headOf(separator, inner.start))
}

export function replaceSeparator<V>(inner: Inner<V>, at: number, separator: string): void {
  inner.keys[at] = separator
  if (!hasNewOuter(inner, at)) inner.heads[at] = headOf(separator, inner.start)
}

/** Takes out a separator and the child after it. */
export function removeChild<V>(inner: Inner<V>, at: number): void {
  removeAt(inner.keys, at)
  removeAt(inner.nodes, at + 1)
  removeNumberAt(inner.heads, at)
}

/** Makes all heads anew when the new separator at `at` has less in common with the others than they had before. */
function hasNewOuter<V>(inner: Inner<V>, at: number): boolean {
  if (!inner.isGuarded || (at > 0 && at < inner.keys.length - 1)) return false
  const own = sharedBy(inner.keys)
  if (own >= inner.start) return false
  inner.start = own
  inner.heads = headsOf(inner.keys, own)
  return true
}

/** Length of the common prefix of ascending keys. */
function sharedBy(keys: readonly string[]): number {
  return keys.length === 0 ? 0 : sameLength(keys[0] as string, keys[keys.length - 1] as string)
}

/** Array.prototype.splice for one element; about half its price at these lengths (measured on Node 20). */
export function insertAt<T>(array: T[], index: number, item: T): void {
  array.push(item)
  for (let i = array.length - 1; i > index; i--) array[i] = array[i - 1] as T
  array[index] = item
}

/** The same for numbers: in code that sees only them they stay unboxed. */
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

/** Index of the child of `inner` under which `key` belongs: how many separators are at or before it. */
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

/** Where `key` stands in the leaf in which it belongs: its index, or `~index` of where it would be put. */
export function placeOf<V>(leaf: Leaf<V>, key: string): number {
  const { heads, rests, start } = leaf
  const head = headOf(key, start)
  const index = firstNotBelow(heads, head)
  if (index === heads.length || heads[index] !== head) return ~index
  const length = key.length - start
  if (isWholeInHead(length)) return index
  const first = rests[index] as string
  if (first.length === length && key.endsWith(first)) return index
  const rest = restOf(key, start)
  const place = lowerBound(rests.length, (at) => (rests[at] as string) < rest, index)
  return rests[place] === rest ? place : ~place
}

/** Index in its leaf of the first key at or after `key`. */
export function firstFrom<V>(leaf: Leaf<V>, key: string): number {
  const place = placeOf(leaf, key)
  return place < 0 ? ~place : place
}

/** Index in its leaf of the first key after `key`. */
export function firstAfter<V>(leaf: Leaf<V>, key: string): number {
  const place = placeOf(leaf, key)
  return place < 0 ? ~place : place + 1
}

/** The value of `key` in the tree under `root`, which may be that of a view. */
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

/** The value of the greatest key at or before `key`. */
export function floorFrom<V>(root: TreeNode<V>, height: number, key: string): V | undefined {
  let node = root
  // The last subtree left of the way down: where the answer is when the leaf has nothing at or before the key.
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
