import fc from 'fast-check'
import { expect, test } from 'vitest'
import { positionsOf } from '../../test/support/listed-stream.ts'
import { systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { invert } from '../encoding/bytes.ts'
import type { ScanNode } from '../planner/plan-node.ts'
import { codesEnd, type Span } from '../planner/spans.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { KvTableView } from '../tables/table.ts'
import { openScan } from './scan.ts'

const prefix = 'Kx'
const value = new Uint8Array(0)
/** Prefix-free, as codes are: two digits. */
const position = fc.integer({ min: 10, max: 60 }).map(String)
const positions = fc.uniqueArray(position, { maxLength: 40 }).map((all) => all.sort())

/** Ascending spans without a common position. */
const spans: fc.Arbitrary<readonly Span[]> = fc
  .uniqueArray(position, { minLength: 2, maxLength: 6 })
  .map((all) => all.sort())
  .map((all) =>
    Array.from({ length: all.length >> 1 }, (_, i) => ({ lower: all[2 * i] ?? '', upper: all[2 * i + 1] ?? '' })),
  )

function open(rows: readonly string[], node: Pick<ScanNode, 'spans' | 'mirrored'>, reverse: boolean, bounds?: Span) {
  const keys = rows.map((row) => prefix + (node.mirrored ? invert(row) : row))
  // Neighbours under other prefixes must not be met.
  const kv = new MemoryKv([...keys, 'Kw99', 'Ky10'].map((key) => ({ key, value })))
  const scan: ScanNode = { type: 'scan', table: 'EntitiesByKind', prefix, equalities: [], ...node }
  const context = requestContext({ clock: systemScheduler })
  return openScan(context, new KvTableView(kv), scan, { reverse, bounds, expect: 4 })
}

test('gives the positions of its spans in result order, plain and mirrored, up and down', async () => {
  await fc.assert(
    fc.asyncProperty(
      positions,
      spans,
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      async (rows, allowed, mirrored, reverse, size) => {
        const stream = open(rows, { spans: allowed, mirrored }, reverse)
        const inside = rows.filter((row) => allowed.some(({ lower, upper }) => row >= lower && row < upper))
        expect(await positionsOf(stream, [size])).toEqual(reverse ? inside.reverse() : inside)
        stream.close()
      },
    ),
  )
})

test('leaves out what lies outside of its bounds, and what a seek passes over', async () => {
  await fc.assert(
    fc.asyncProperty(positions, position, position, fc.boolean(), async (rows, low, target, mirrored) => {
      const everything = [{ lower: '', upper: codesEnd }]
      const stream = open(rows, { spans: everything, mirrored }, false, { lower: low, upper: codesEnd })
      stream.seek(target)
      expect(await positionsOf(stream, [3])).toEqual(rows.filter((row) => row >= low && row >= target))
      stream.close()
    }),
  )
})

test('without anything allowed it reads nothing', async () => {
  expect(await open(['10', '20'], { spans: [], mirrored: false }, false).next(5)).toEqual([])
})
