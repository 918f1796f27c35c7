import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { BTree } from '../../src/storage/btree.ts'
import type { Inner, Leaf, TreeNode } from '../../src/storage/btree-node.ts'
import { TreeScan } from '../../src/storage/btree-scan.ts'
import { headsOf } from '../../src/storage/key-parts.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { operations, runAgainstModel } from './kv-model.ts'

describe('memory-kv', () => {
  it.each([4, 5, 9, 64])('behaves as a plain sorted map does, with nodes of %i keys', async (nodeCapacity) => {
    await fc.assert(
      fc.asyncProperty(operations, (sequence) => runAgainstModel(new MemoryKv([], { nodeCapacity }), sequence)),
      { numRuns: runs(39) },
    )
  })

  it('gives back a former state from a snapshot, as often as asked', () => {
    const kv = new MemoryKv([{ key: 'a', value: Uint8Array.of(1) }], { nodeCapacity: 4 })
    const before = kv.snapshot()
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 100; i++) kv.mutate({ key: `k${i}`, value: Uint8Array.of(i) })
      const scan = kv.scan({ start: 'k', end: 'l' })
      kv.restore(before)
      expect(kv.size).toBe(1)
      expect([...(kv.get('a') ?? [])]).toEqual([1])
      expect(kv.get('k5')).toBeUndefined()
      expect(scan.next(1000).length).toBe(100)
      scan.close()
    }
    before.close()
    expect(() => kv.restore(new MemoryKv().snapshot())).toThrow(TypeError)
  })
})

/** Thousands of nodes are checked: an `expect` for each takes longer than all else. */
function holds(is: boolean, law: string): void {
  if (!is) expect.fail(law)
}

const areEqual = <T>(some: readonly T[], others: readonly T[]): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i])

/** Checks btree/B1, how full nodes are and their heads, and returns the keys. */
function checkTree(tree: BTree<number>, capacity: number): string[] {
  const minimum = Math.max(2, capacity >> 2)
  const keys: string[] = []
  const visit = (node: TreeNode<number>, depth: number, low: string | undefined, high: string | undefined): void => {
    const isRoot = depth === tree.height
    if (depth === 0) {
      const leaf = node as Leaf<number>
      const leafKeys = leaf.rests.map((rest) => leaf.prefix + rest)
      holds(
        leaf.values.length === leafKeys.length && leaf.start === leaf.prefix.length,
        'a value a key, after the prefix',
      )
      holds(areEqual(leaf.heads, headsOf(leaf.rests, 0)), 'B6')
      holds(leafKeys.length <= capacity && (isRoot || leafKeys.length >= minimum), 'B3')
      const [lowest, highest] = [low ?? '', high ?? '\xff']
      holds(lowest.startsWith(leaf.prefix) && highest.startsWith(leaf.prefix), 'B5')
      const within = (key: string): boolean => (low === undefined || low <= key) && (high === undefined || key < high)
      holds(leafKeys.every(within), 'B2')
      keys.push(...leafKeys)
      return
    }
    const inner = node as Inner<number>
    holds(inner.nodes.length === inner.keys.length + 1, 'a node more than keys')
    holds(inner.nodes.length <= capacity && inner.nodes.length >= (isRoot ? 2 : minimum), 'B3')
    const shared = (inner.keys[0] ?? '').slice(0, inner.start)
    const isShared = inner.keys.every((key) => key.startsWith(shared) && key.length >= inner.start)
    holds(isShared && (inner.isGuarded || [low ?? '', high ?? ''].every((end) => end.startsWith(shared))), 'B5')
    holds(areEqual(inner.heads, headsOf(inner.keys, inner.start)), 'B6')
    inner.nodes.forEach((child, i) => {
      visit(child, depth - 1, inner.keys[i - 1] ?? low, inner.keys[i] ?? high)
    })
  }
  visit(tree.root, tree.height, undefined, undefined)
  holds(areEqual(keys, [...new Set(keys)].sort()), 'B1')
  holds(keys.length === tree.size, 'the size is that of the keys')
  return keys
}

/** Checks the tree and its keys. */
function checkKeys(tree: BTree<number>, capacity: number, model: ReadonlyMap<string, number>): void {
  holds(areEqual(checkTree(tree, capacity), [...model.keys()].sort()), 'the keys are those of the model')
}

describe('a fork of the store', () => {
  const value = Uint8Array.of(1)

  it('btree/B4: is not changed by the store when the snapshot is closed that it began with', () => {
    const kv = new MemoryKv([{ key: 'a', value }])
    const snapshot = kv.snapshot()
    const fork = kv.fork(snapshot)
    snapshot.close()
    kv.mutate({ key: 'b', value })
    expect([fork.get('b'), fork.size]).toEqual([undefined, 1])
  })

  it('btree/B4: does not change the store that was restored from it, when that snapshot is closed', () => {
    const kv = new MemoryKv([{ key: 'a', value }])
    const fork = kv.fork(kv.snapshot())
    fork.mutate({ key: 'b', value })
    const snapshot = fork.snapshot()
    kv.restore(snapshot)
    snapshot.close()
    fork.mutate({ key: 'c', value })
    expect([kv.get('b'), kv.get('c'), kv.size]).toEqual([value, undefined, 2])
  })
})

describe('the tree', () => {
  // Long runs of keys, up, down and mixed, then deletes: what splits and merges several levels.
  const keyRuns = fc.array(
    fc.record({
      insert: fc.boolean(),
      from: fc.nat({ max: 600 }),
      count: fc.integer({ min: 1, max: 300 }),
      step: fc.constantFrom(1, -1, 7, 389),
    }),
    { minLength: 1, maxLength: 10 },
  )
  // Keys of two tables and in between, that have much in common and end early and late, so that prefixes come and go.
  const keyOf = (i: number): string =>
    (i % 50 === 7 ? '' : i < 300 ? 'E-project-kind-' : 'E-project-other-kind-') +
    String.fromCharCode(0x41, (i >> 7) & 0xff, (i >> 4) & 0xff, i & 0x0f ? 0xf0 + (i & 0x0f) : 0) +
    'x'.repeat(i % 11 === 0 ? 20 : 0)

  interface Run {
    readonly insert: boolean
    readonly from: number
    readonly count: number
    readonly step: number
  }

  /** The keys of a run, in its order, with the values that it inserts. */
  const rowsOf = ({ from, count, step }: Run): Map<string, number> =>
    new Map(Array.from({ length: count }, (_, i) => [keyOf((from + i * step + 600 * 389) % 601), i]))

  /** Inserts the rows of runs one by one, or deletes them; in the model too, if there is one. */
  function apply(tree: BTree<number>, sequence: readonly Run[], model?: Map<string, number>): void {
    for (const run of sequence) {
      for (const [key, value] of rowsOf(run)) {
        if (run.insert) {
          tree.set(key, value)
          model?.set(key, value)
          continue
        }
        const wasThere = tree.delete(key) !== undefined
        if (model !== undefined && wasThere !== model.delete(key)) expect.fail(`delete(${key}) said the opposite`)
      }
    }
  }

  it.each([4, 5, 8, 13])(
    'keeps btree/B1, full nodes, prefixes and heads over runs of inserts and deletes, with %i keys a node',
    (capacity) => {
      fc.assert(
        fc.property(keyRuns, (sequence) => {
          const tree = new BTree<number>(capacity)
          const model = new Map<string, number>()
          for (const run of sequence) {
            apply(tree, [run], model)
            checkKeys(tree, capacity, model)
          }
          for (const [key, value] of model) holds(tree.get(key) === value, 'a value is that of the model')
        }),
        { numRuns: runs(12) },
      )
    },
  )

  it.each([4, 5, 8, 13, 64])(
    'keeps btree/B1, full nodes, prefixes and heads when ranges are deleted, with %i keys a node',
    (capacity) => {
      const range = fc.tuple(fc.nat({ max: 600 }), fc.nat({ max: 600 }))
      fc.assert(
        fc.property(fc.array(fc.tuple(keyRuns, range), { minLength: 1, maxLength: 4 }), (sequence) => {
          const tree = new BTree<number>(capacity)
          const model = new Map<string, number>()
          for (const [inserts, ends] of sequence) {
            apply(
              tree,
              inserts.map((run) => ({ ...run, insert: true })),
              model,
            )
            const view = tree.view()
            const before = [...model.keys()].sort()
            const [start, end] = ends.map(keyOf).sort() as [string, string]
            tree.deleteRange(start, end)
            for (const key of before) if (start <= key && key < end) model.delete(key)
            checkKeys(tree, capacity, model)
            const scan = new TreeScan(view, { start: '', end: '\xff' }, false)
            const seen = scan.next(1000).map(({ key }) => key)
            holds(areEqual(seen, before), 'B4')
            tree.release(view)
          }
          for (const [key, value] of model) holds(tree.get(key) === value, 'a value is that of the model')
        }),
        { numRuns: runs(21) },
      )
    },
  )

  it('a deletion of most rows looks into a few leaves, however many there are', () => {
    const tree = new BTree<number>(8)
    const keys = Array.from({ length: 20_000 }, (_, i) => String(i).padStart(5, '0'))
    for (const key of keys) tree.set(key, 1)
    const seen = new Set<Leaf<number>>()
    const watch = (node: TreeNode<number>, height: number): void => {
      if (height > 0) for (const child of (node as Inner<number>).nodes) watch(child, height - 1)
      else {
        const leaf = node as Leaf<number>
        let { rests } = leaf
        Object.defineProperty(leaf, 'rests', {
          get: () => {
            seen.add(leaf)
            return rests
          },
          set: (now: string[]) => {
            rests = now
          },
        })
      }
    }
    watch(tree.root, tree.height)
    tree.deleteRange('00010', '19990')
    expect(seen.size).toBeLessThan(30)
    expect(checkTree(tree, 8)).toEqual([...keys.slice(0, 10), ...keys.slice(-10)])
  })

  it('btree/B4: a fork and the tree that it is of never change each other', () => {
    fc.assert(
      fc.property(keyRuns, keyRuns, keyRuns, fc.boolean(), (before, ours, theirs, isReleased) => {
        const all = (tree: BTree<number>): unknown =>
          new TreeScan(tree, { start: '', end: '\xff\xff\xff' }, false).next(10_000)
        const [tree, alone, other] = [new BTree<number>(5), new BTree<number>(5), new BTree<number>(5)]
        for (const one of [tree, alone, other]) apply(one, before)
        const view = tree.view()
        const fork = tree.fork(view)
        // The fork needs no view to be open any more.
        if (isReleased) tree.release(view)
        apply(fork, theirs.slice(0, 1))
        apply(tree, ours)
        apply(fork, theirs.slice(1))
        apply(alone, ours)
        apply(other, theirs)
        expect(all(tree)).toEqual(all(alone))
        expect(all(fork)).toEqual(all(other))
        checkTree(tree, 5)
        checkTree(fork, 5)
        if (!isReleased) tree.release(view)
      }),
      { numRuns: runs(12) },
    )
  })

  it('btree/B4: leaves what an open view reaches as it was', () => {
    fc.assert(
      fc.property(keyRuns, keyRuns, (before, after) => {
        const tree = new BTree<number>(5)
        apply(tree, before)
        const view = tree.view()
        const range = { start: '', end: '\xff\xff\xff' }
        const rows = new TreeScan(view, range, false).next(10_000)
        apply(tree, after)
        expect(new TreeScan(view, range, false).next(10_000)).toEqual(rows)
        expect(new TreeScan(view, range, true).next(10_000)).toEqual(rows.toReversed())
        tree.release(view)
        checkTree(tree, 5)
      }),
      { numRuns: runs(12) },
    )
  })

  it('a scan that seeks among keys that end alike gives the rows at and after each', () => {
    const keyAt = (table: number, row: number): string => `table-${table}-row-${100 + row}`
    const tree = new BTree<number>(5)
    const keys: string[] = []
    for (let table = 0; table < 6; table++) for (let row = 0; row < 40; row += 2) keys.push(keyAt(table, row))
    for (const key of keys) tree.set(key, 0)
    const range = { start: keyAt(1, 0), end: keyAt(5, 0) }
    const inside = keys.filter((key) => range.start <= key && key < range.end)
    const place = fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 40 }))
    fc.assert(
      fc.property(fc.array(place, { minLength: 1 }), fc.boolean(), (places, reverse) => {
        const scan = new TreeScan(tree, range, reverse)
        for (const [table, row] of places) {
          const key = keyAt(table, row)
          scan.seek(key)
          const after = reverse ? inside.filter((one) => one <= key).reverse() : inside.filter((one) => one >= key)
          expect(scan.next(3).map((found) => found.key)).toEqual(after.slice(0, 3))
        }
      }),
      { numRuns: runs(39) },
    )
  })

  it('keeps nodes well filled when keys arrive in order, up or down', () => {
    for (const step of [1, -1]) {
      const tree = new BTree<number>(64)
      for (let i = 0; i < 20_000; i++) tree.set(String(50_000 + i * step), i)
      let leaves = 0
      const count = (node: TreeNode<number>, height: number): void => {
        if (height === 0) leaves++
        else for (const child of (node as Inner<number>).nodes) count(child, height - 1)
      }
      count(tree.root, tree.height)
      expect(20_000 / leaves / 64).toBeGreaterThan(0.7)
    }
  })
})
