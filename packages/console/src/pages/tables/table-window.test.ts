import { expect, test } from 'vitest'
import { heldMax, pageRows, RowWindow, type Stretch, type TableAnswer } from './table-window.ts'

/** A table of 5,000 rows with a tablet of a thousand each. */
class Table {
  readonly asked: number[] = []
  keys = Array.from({ length: 5000 }, (_, i) => hex(i * 2))

  read = async ({ limit, from, after, before }: Stretch): Promise<TableAnswer> => {
    this.asked.push(limit)
    const inside = this.keys.filter(
      (key) => (from === undefined || key >= from) && (after === undefined || key > after),
    )
    const all = before === undefined ? inside : inside.filter((key) => key < before)
    const shown = before === undefined ? all.slice(0, limit) : all.slice(-limit)
    const more = all.length > shown.length
    return {
      rows: shown.map((rowKey) => ({ row: rowKey, rowKey, value: '' })),
      ...(more && before === undefined ? { next: shown.at(-1) ?? '' } : {}),
      ...(more && before !== undefined ? { previous: shown[0] ?? '' } : {}),
      tablets: this.tablets.filter(({ start }, i) => {
        const end = this.tablets[i + 1]?.start ?? 'g'
        return start <= (shown.at(-1) ?? '') && end > (shown[0] ?? '')
      }),
    }
  }

  readonly tablets = [0, 1, 2, 3, 4].map((i) => ({ id: i + 1, server: i % 3, start: i === 0 ? '' : hex(i * 2000) }))
}

function hex(n: number): string {
  const digits = (n + 0x100000).toString(16)
  return digits.padStart(digits.length + (digits.length % 2), '0').replace(/(..)(?=.)/g, '$1 ')
}

/** Few rows are asked for and held, and those held are neighbours (table-window/RW2). */
function check(table: Table, window: RowWindow): void {
  expect(Math.max(...table.asked)).toBeLessThanOrEqual(pageRows)
  expect(window.rows.length).toBeLessThanOrEqual(heldMax)
  const at = table.keys.indexOf(window.rows[0]?.rowKey ?? '')
  expect(window.rows.map(({ rowKey }) => rowKey)).toEqual(table.keys.slice(at, at + window.rows.length))
}

test('table-window/RW2: 5,000 rows are scrolled down and up again, a page at a time', async () => {
  const table = new Table()
  const window = new RowWindow(table.read, () => {})
  await window.open()
  const met = new Set<number>()
  while (!window.atEnd) {
    await window.next()
    check(table, window)
    for (const { id } of window.tablets) met.add(id)
  }
  expect(window.rows.at(-1)?.rowKey).toBe(table.keys.at(-1))
  expect([...met]).toEqual([1, 2, 3, 4, 5])
  expect(window.atStart).toBe(false)
  while (!window.atStart) {
    await window.previous()
    check(table, window)
  }
  expect(window.rows[0]?.rowKey).toBe(table.keys[0])
  expect(window.tablets.map(({ id }) => id)).toEqual([1])
})

test('a window opens at a row with some before it, and at the end', async () => {
  const table = new Table()
  const window = new RowWindow(table.read, () => {})
  await window.open(hex(2001))
  expect(window.rows[20]?.rowKey).toBe(hex(2002))
  expect(window.tablets.map(({ id }) => id)).toEqual([1, 2])
  expect([window.atStart, window.atEnd]).toEqual([false, false])
  await window.openEnd('ff')
  expect(window.rows.at(-1)?.rowKey).toBe(hex(9998))
  check(table, window)
})

test('a refresh shows rows that came and leaves out those that went; what a newer open asks for counts', async () => {
  const table = new Table()
  let changes = 0
  const window = new RowWindow(table.read, () => changes++)
  await window.open(hex(4000))
  await window.next()
  const held = window.rows.length
  table.keys = [...table.keys.filter((key) => key !== hex(4104)), hex(4105)].sort()
  expect(window.covers(hex(4105))).toBe(true)
  expect(window.covers(hex(9000))).toBe(false)
  const [first] = [window.next(), window.refresh()]
  await first
  check(table, window)
  expect(window.rows.map(({ rowKey }) => rowKey)).toContain(hex(4105))
  expect(window.rows.length).toBeGreaterThanOrEqual(held)
  const [reading, refreshed] = [window.next(), window.refresh()]
  table.keys = [...table.keys, hex(4441)].sort()
  await refreshed
  expect(window.rows.map(({ rowKey }) => rowKey)).toContain(hex(4441))
  await reading
  const slow = window.next()
  await window.open()
  await slow
  expect(window.rows[0]?.rowKey).toBe(table.keys[0])
  expect(changes).toBeGreaterThan(3)
})
