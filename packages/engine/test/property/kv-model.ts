/**
 * Random sequences of store operations, run against a body of the store and against a plain sorted list of rows.
 *
 * Scans and snapshots are held across writes: each remembers the rows as they were when it was opened, and must answer
 * from those (kv/K4; both bodies keep the very moment of the opening). Deletions of ranges are not waited for: reads find none of the
 * rows at once, and writes to other rows go on. Keys are short strings over 00, 01, 'a', 'b', FE, FF,
 * some of them behind one of a few beginnings, so that they share prefixes, end in 00 and meet the ends of ranges.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Kv, KvReader, KvScan, KvSnapshot } from '../../src/storage/kv.ts'

type Rows = readonly (readonly [key: string, value: number])[]

export type Operation =
  | { readonly do: 'write'; readonly writes: readonly (readonly [key: string, value: number | undefined])[] }
  | { readonly do: 'writeIf'; readonly key: string; readonly value: number; readonly hit: boolean }
  | { readonly do: 'get'; readonly key: string; readonly snapshot: number }
  | {
      readonly do: 'open'
      readonly range: readonly [string, string]
      readonly reverse: boolean
      readonly snapshot: number
    }
  | { readonly do: 'next'; readonly scan: number; readonly count: number }
  | { readonly do: 'seek'; readonly scan: number; readonly key: string }
  | { readonly do: 'closeScan'; readonly scan: number }
  | { readonly do: 'snapshot' }
  | { readonly do: 'closeSnapshot'; readonly snapshot: number }
  | { readonly do: 'clear' }
  | { readonly do: 'deleteRanges'; readonly ranges: readonly (readonly [string, string])[] }

const ends = fc.string({ unit: fc.constantFrom('\x00', '\x01', 'a', 'b', '\xfe', '\xff'), maxLength: 5 })
const beginnings = fc.constantFrom('', '', '', 'a', 'abaaba', 'abaabaa', 'abaababa\x00', 'b\xff\xff\xff\xff\xff')
const keys = fc.tuple(beginnings, ends).map(([beginning, end]) => beginning + end)
const value = fc.integer({ min: 0, max: 255 })
/** Small numbers that pick one of what is open. */
const pick = fc.nat({ max: 7 })

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      writes: fc.array(fc.tuple(keys, fc.option(value, { nil: undefined, freq: 2 })), { minLength: 1, maxLength: 25 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('writeIf' as const), key: keys, value, hit: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get' as const), key: keys, snapshot: pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      range: fc.oneof(fc.tuple(keys, keys), fc.constant(['', '\xff\xff\xff\xff\xff\xff'] as [string, string])),
      reverse: fc.boolean(),
      snapshot: pick,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('next' as const), scan: pick, count: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('seek' as const), scan: pick, key: keys }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('closeScan' as const), scan: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('closeSnapshot' as const), snapshot: pick }) },
)

/** Mostly writes and reads; once in a while everything is deleted, or ranges are. */
export const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { weight: 60, arbitrary: operation },
    { weight: 1, arbitrary: fc.constant<Operation>({ do: 'clear' }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('deleteRanges' as const),
        ranges: fc.array(fc.tuple(keys, keys), { maxLength: 3 }),
      }),
    },
  ),
  { minLength: 1, maxLength: 60, size: 'max' },
)

interface OpenScan {
  readonly scan: KvScan
  /** The rows of its range, in scan order, as of its opening. */
  readonly rows: Rows
  readonly reverse: boolean
  at: number
}

/** Runs the operations on `kv`, which must be empty, and checks every answer. */
export async function runAgainstModel(kv: Kv, sequence: readonly Operation[]): Promise<void> {
  const model = new Map<string, number>()
  const scans: OpenScan[] = []
  const snapshots: { readonly snapshot: KvSnapshot; readonly rows: Rows }[] = []
  const sorted = (): Rows => [...model].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  /** An open snapshot, or the store itself, with its rows; about half of the picks are the store. */
  const reader = (index: number): { readonly reader: KvReader; readonly rows: Rows } => {
    const open = snapshots[index]
    return open === undefined ? { reader: kv, rows: sorted() } : { reader: open.snapshot, rows: open.rows }
  }

  for (const step of sequence) {
    switch (step.do) {
      case 'write': {
        for (const [key, number] of step.writes) {
          if (number === undefined) model.delete(key)
          else model.set(key, number)
        }
        await kv.batch(step.writes.map(([key, number]) => ({ key, value: bytesOf(number) })))
        break
      }
      case 'writeIf': {
        const now = model.get(step.key)
        const expected = step.hit ? now : now === undefined ? 1 : (now + 1) % 256
        expect(await kv.mutateIf({ key: step.key, value: bytesOf(step.value) }, bytesOf(expected))).toBe(step.hit)
        if (step.hit) model.set(step.key, step.value)
        break
      }
      case 'get': {
        const { reader: from, rows } = reader(step.snapshot)
        expect((await from.get(step.key))?.[0]).toBe(rows.find(([key]) => key === step.key)?.[1])
        break
      }
      case 'open': {
        const { reader: from, rows } = reader(step.snapshot)
        const [start, end] = step.range
        const inside = rows.filter(([key]) => start <= key && key < end)
        const scan = from.scan({ start, end }, { reverse: step.reverse, expect: step.snapshot })
        scans.push({ scan, rows: step.reverse ? inside.toReversed() : inside, reverse: step.reverse, at: 0 })
        break
      }
      case 'next': {
        const open = scans[step.scan % scans.length]
        if (open === undefined) break
        const rows = await open.scan.next(step.count)
        const expected = open.rows.slice(open.at, open.at + rows.length)
        expect(rows.map((row) => [row.key, row.value[0]])).toEqual(expected)
        expect(rows.length).toBeLessThanOrEqual(step.count)
        if (open.at < open.rows.length) expect(rows.length).toBeGreaterThan(0)
        open.at += rows.length
        break
      }
      case 'seek': {
        const open = scans[step.scan % scans.length]
        if (open === undefined) break
        open.scan.seek(step.key)
        const at = open.rows.findIndex(([key]) => (open.reverse ? key <= step.key : key >= step.key))
        open.at = at < 0 ? open.rows.length : at
        break
      }
      case 'closeScan':
        scans.splice(step.scan % scans.length, 1)[0]?.scan.close()
        break
      case 'snapshot':
        snapshots.push({ snapshot: kv.snapshot(), rows: sorted() })
        break
      case 'closeSnapshot': {
        const [closed] = snapshots.splice(step.snapshot, 1)
        closed?.snapshot.close()
        break
      }
      case 'clear':
        model.clear()
        await kv.clear()
        break
      case 'deleteRanges': {
        const isIn = (key: string): boolean => step.ranges.some(([start, end]) => start <= key && key < end)
        for (const key of [...model.keys()]) if (isIn(key)) model.delete(key)
        await kv.deleteRanges(step.ranges.map(([start, end]) => ({ start, end })))
        break
      }
    }
  }
  for (const { scan } of scans) scan.close()
  for (const { snapshot } of snapshots) snapshot.close()
}

function bytesOf(value: number): Uint8Array
function bytesOf(value: number | undefined): Uint8Array | undefined
function bytesOf(value: number | undefined): Uint8Array | undefined {
  return value === undefined ? undefined : Uint8Array.of(value)
}
