import { expect, test, vi } from 'vitest'
import type { Footprint } from '../log/footprint.ts'
import { ReadSet } from './read-set.ts'
import { RecentCommits } from './recent-commits.ts'

function add(recent: RecentCommits, row: string, written?: Promise<void>): void {
  const footprint: Footprint = { entityRows: [row], indexRows: () => [], groups: [] }
  recent.add({ footprint, groupsRead: [], transaction: new Uint8Array(0), written })
}

const never = (): never => {
  throw new Error('so few commits are dropped at once')
}

const numbers = (recent: RecentCommits, mark: number): number[] => recent.since(mark).map(({ number }) => number)

test('commits are kept from the oldest mark on, and from the oldest that is under way', async () => {
  const recent = new RecentCommits(never)
  add(recent, 'before')
  const [first, second] = [recent.mark(), recent.mark()]
  add(recent, 'a')
  const third = recent.mark()
  add(recent, 'b')
  expect([first, second, third]).toEqual([2, 2, 3])
  recent.release(first)
  expect(numbers(recent, 2)).toEqual([2, 3])
  recent.release(second)
  expect(numbers(recent, 2)).toEqual([3])
  let arrive = (): void => {}
  add(recent, 'c', new Promise((resolve) => (arrive = resolve)))
  add(recent, 'd')
  expect(recent.now).toBe(4)
  recent.release(third)
  expect(numbers(recent, 0)).toEqual([4, 5])
  arrive()
  await Promise.resolve()
  await Promise.resolve()
  expect([numbers(recent, 0), recent.now]).toEqual([[], 6])
})

test('a change is found by row and in order, and no more once its commit is dropped', () => {
  const recent = new RecentCommits(never)
  const reads = new ReadSet()
  reads.addRow('a')
  const marks = [recent.mark()]
  for (const row of ['a', 'b', 'c', 'd']) {
    add(recent, row)
    marks.push(recent.mark())
  }
  expect(marks.map((mark) => recent.changeSince(mark, reads)?.number)).toEqual([1, ...Array(4).fill(undefined)])
  const [first, ...others] = marks as [number, ...number[]]
  recent.release(first)
  expect(recent.changeSince(first, reads)).toBeUndefined()
  for (const mark of others) recent.release(mark)
  expect(numbers(recent, 0)).toEqual([])
})

test('many commits that an old mark kept are dropped in several turns, and meanwhile change nothing', () => {
  const turns: (() => void)[] = []
  const recent = new RecentCommits((task) => void turns.push(task))
  const reads = new ReadSet()
  reads.addRow('a4999')
  const old = recent.mark()
  for (let i = 0; i < 5000; i++) add(recent, `a${i}`)
  const mark = recent.mark()
  recent.release(old)
  expect(numbers(recent, 0).length).toBeGreaterThanOrEqual(3900)
  add(recent, 'b')
  expect(recent.changeSince(mark, reads)).toBeUndefined()
  expect(numbers(recent, mark)).toEqual([5001])
  for (const turn of turns) turn()
  expect(turns).toHaveLength(19)
  expect(numbers(recent, 0)).toEqual([5001])
  recent.release(mark)
  expect(numbers(recent, 0)).toEqual([])
})

test('commits with many rows are dropped some in each turn', () => {
  const turns: (() => void)[] = []
  const recent = new RecentCommits((task) => void turns.push(task))
  const mark = recent.mark()
  for (let i = 0; i < 20; i++) {
    const entityRows = Array.from({ length: 200 }, (_, row) => `${i}-${row}`)
    const footprint: Footprint = { entityRows, indexRows: () => [], groups: [] }
    recent.add({ footprint, groupsRead: [], transaction: new Uint8Array(0), written: undefined })
  }
  recent.release(mark)
  expect(numbers(recent, 0)).toHaveLength(17)
  for (const turn of turns) turn()
  expect(turns).toHaveLength(6)
  expect(numbers(recent, 0)).toEqual([])
})

test('recent-commits/N1: many that have read a row each and then commit look at few of the commits of others', () => {
  const count = 2_000
  const recent = new RecentCommits((task) => task())
  const hits = vi.spyOn(ReadSet.prototype, 'hitBy')
  const rows = vi.spyOn(ReadSet.prototype, 'rows')
  const open = Array.from({ length: count }, (_, i) => {
    const reads = new ReadSet()
    reads.addRow(`row ${i}`)
    return { mark: recent.mark(), reads, row: `row ${i}` }
  })
  for (const { mark, reads, row } of open) {
    expect(recent.changeSince(mark, reads)).toBeUndefined()
    add(recent, row)
    recent.release(mark)
  }
  expect(hits.mock.calls.length + rows.mock.calls.length).toBeLessThan(2 * count)
})

test('rows of a commit are not looked at unless a mark or a question needs them', async () => {
  const recent = new RecentCommits((task) => task())
  let looks = 0
  const gone: Promise<void>[] = []
  for (let i = 0; i < 10; i++) {
    const footprint: Footprint = {
      get entityRows() {
        looks++
        return [`row ${i}`]
      },
      indexRows: () => [],
      groups: [],
    }
    gone.push(Promise.resolve())
    recent.add({ footprint, groupsRead: [], transaction: new Uint8Array(0), written: gone[i] })
    if (i === 8) await Promise.all(gone)
  }
  expect(looks).toBe(0)
  const reads = new ReadSet()
  reads.addRow('row 9')
  reads.addRow('row 3')
  const mark = recent.mark()
  expect(recent.changeSince(mark, reads)?.number).toBe(10)
  const before = looks
  const footprint: Footprint = {
    get entityRows() {
      looks++
      return ['row 3']
    },
    indexRows: () => [],
    groups: [],
  }
  // With a mark, this commit and the last one are noted at once: a question would have to note all in its turn.
  recent.add({ footprint, groupsRead: [], transaction: new Uint8Array(0), written: undefined })
  expect(looks).toBe(before + 2)
  recent.release(mark)
})
