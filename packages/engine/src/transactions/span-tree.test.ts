import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KeyRange } from '../storage/kv.ts'
import { rangeOfRow } from '../tables/rows.ts'
import { SpanTree } from './span-tree.ts'

const letter = fc.constantFrom(...'abcdefgh')
const range = fc
  .tuple(letter, letter)
  .map(([a, b]) => (a < b ? { start: a, end: `${b}~` } : { start: b, end: `${a}~` }))
const steps = fc.array(fc.record({ range, asked: range, isRemoval: fc.boolean() }), { maxLength: 60 })

function overlapping(tree: SpanTree<string>, asked: KeyRange): readonly string[] {
  const found: string[] = []
  tree.some(asked, (value) => {
    found.push(value)
    return false
  })
  return found
}

test('a tree of spans gives the same ones as a list of them, in order', () => {
  fc.assert(
    fc.property(steps, (operations) => {
      const tree = new SpanTree<string>()
      const list = new Map<string, KeyRange>()
      for (const { range: span, asked, isRemoval } of operations) {
        const name = `${span.start} ${span.end}`
        expect(tree.get(span)).toBe(list.has(name) ? name : undefined)
        if (!list.has(name)) {
          list.set(name, span)
          tree.add(span, name)
        } else if (isRemoval) {
          list.delete(name)
          tree.delete(span)
        }
        const sorted = [...list.keys()].sort()
        expect(tree.size).toBe(list.size)
        expect(tree.ranges()).toEqual(sorted.map((one) => list.get(one)))
        const hit = sorted.filter((one) => {
          const { start, end } = list.get(one) as KeyRange
          return start < asked.end && asked.start < end
        })
        expect(overlapping(tree, asked)).toEqual(hit)
        expect(tree.some(asked, () => true)).toBe(hit.length > 0)
      }
    }),
  )
})

test('a search among many spans looks at few of them', () => {
  const tree = new SpanTree<number>()
  let looks = 0
  const numbered = (i: number): string => String(i).padStart(6, '0')
  const count = 20_000
  for (let i = 0; i < count; i++) {
    const start = numbered(i * 2)
    const end = numbered(i * 2 + 1)
    const counted = {
      get start() {
        looks++
        return start
      },
      end,
    }
    tree.add(counted, i)
  }
  looks = 0
  for (let i = 0; i < 100; i++) {
    const found: number[] = []
    tree.some(rangeOfRow(numbered(i * 400)), (value) => found.push(value) < 0)
    expect(found).toEqual([i * 200])
  }
  // About 20 to 40 in a tree of this size, 20,000 in a list.
  expect(looks / 100).toBeLessThan(100)
})
