import type { HeatBound, TabletEvent } from '@sixtables/engine'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bracketsOf, HeatAxis } from './heat-axis.ts'
import { tabletAt, tabletSpans } from './heat-tablets.ts'
import { boundWords, placeWords, rangeWords } from './heat-words.ts'
import { HeatRecording, type Tablet } from './recorded-heat.ts'

interface World {
  tablets: Tablet[]
  events: TabletEvent[]
  lastId: number
}

const first = (): World => ({
  tablets: [{ table: 'Entities', id: 1, startHex: '', endHex: '', server: 0, splitRefusal: undefined }],
  events: [],
  lastId: 1,
})

/** One thing that happens to a tablet: drawn numbers, taken for what they can be. */
function happen(world: World, atMs: number, kind: 'split' | 'merge' | 'move', drawn: number): void {
  const { tablets, events } = world
  const place = drawn % tablets.length
  const tablet = tablets[place] as Tablet
  const { table, id, startHex, endHex } = tablet
  const event: TabletEvent = {
    ...{ sequence: events.length + 1, atMs, kind, table, tablet: id, startHex, endHex, words: kind, reason: 'load' },
    ...{ at: undefined, atHex: undefined, other: undefined, fromServer: undefined, toServer: undefined },
  }
  if (kind === 'split') {
    const atHex = (drawn % 256).toString(16).padStart(2, '0')
    if (atHex <= startHex || (endHex !== '' && atHex >= endHex)) return
    const other = ++world.lastId
    tablets.splice(place, 1, { ...tablet, endHex: atHex }, { ...tablet, id: other, startHex: atHex })
    events.push({ ...event, atHex, other })
  } else if (kind === 'merge') {
    const right = tablets[place + 1]
    if (right === undefined) return
    tablets.splice(place, 2, { ...tablet, endHex: right.endHex })
    events.push({ ...event, atHex: right.startHex, other: right.id })
  } else {
    tablets[place] = { ...tablet, server: drawn }
    events.push({ ...event, fromServer: tablet.server, toServer: drawn })
  }
}

test('tablets of each moment lie side by side, as they were then (heat-tablets/HT1)', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('split', 'merge', 'move'), fc.nat(100_000)), { maxLength: 30 })
  fc.assert(
    fc.property(steps, (all) => {
      const world = first()
      const then: (readonly Tablet[])[] = []
      for (const [i, [kind, drawn]] of all.entries()) {
        happen(world, (i + 1) * 1000, kind as 'split', drawn)
        then.push([...world.tablets])
      }
      const spans = tabletSpans('Entities', world.tablets, world.events)
      for (const [i, tablets] of then.entries()) {
        const atMs = (i + 1) * 1000 + 500
        const there = spans.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
        const ranges = (list: readonly { startHex: string; endHex: string }[]) =>
          list.map(({ startHex, endHex }) => [startHex, endHex]).sort()
        expect(ranges(there)).toEqual(ranges(tablets))
        for (const { startHex, id } of tablets) expect(tabletAt(spans, startHex, atMs)?.id).toBe(id)
      }
    }),
  )
})

test('a moved tablet was on its server before until then', () => {
  const tablet = { table: 'Log', id: 7, startHex: '', endHex: '', server: 3, splitRefusal: undefined } as const
  const move = { atMs: 5000, kind: 'move', table: 'Log', tablet: 7, startHex: '', endHex: '', fromServer: 1 }
  const spans = tabletSpans('Log', [tablet], [move as TabletEvent])
  expect([4999, 5000].map((ms) => tabletAt(spans, '4c', ms)?.server)).toEqual([1, 3])
})

const levels = (...all: readonly string[]): HeatBound => ({
  hex: all.join(),
  words: `Entities › ${all.join(' › ')}`,
  levels: all,
})

test('brackets cover all rows, and no level joins what the one before parts (heat-axis/A3)', () => {
  const rows = [
    [],
    ['p', '', 'A', 'A:1'],
    ['p', '', 'A', 'A:2'],
    ['p', '', 'B', 'B:1'],
    ['p', 'n', 'B', 'B:1'],
    ['q', 'n', 'B', 'B:1'],
  ]
  const shown = bracketsOf(rows.length, (row) => rows[row] ?? [])
  expect(shown.map((all) => all.map(({ label, fromRow, toRow }) => `${label} ${fromRow}-${toRow}`))).toEqual([
    ['p 0-5', 'q 5-6'],
    ['default namespace 0-4', 'n 4-5', 'n 5-6'],
    ['A 0-3', 'B 3-4', 'B 4-5', 'B 5-6'],
  ])
})

test('ranges are told by their keys, the common part once', () => {
  const open: HeatBound = { hex: '', words: '', levels: [] }
  const [a, b] = [levels('p', 'ToDo:1'), levels('p', 'ToDo:9')]
  expect(boundWords(a)).toBe('p › ToDo:1')
  expect([rangeWords(open, open), rangeWords(a, b), rangeWords(open, b), rangeWords(a, open)]).toEqual([
    'all keys',
    'p › ToDo:1 to before ToDo:9',
    'the first key to before p › ToDo:9',
    'p › ToDo:1 to the last key',
  ])
})

test('a place is told with its range, time, measures, tablet and server', () => {
  const recording = new HeatRecording()
  const [a, b] = [levels('p', '', 'ToDo', 'ToDo:1'), levels('p', '', 'ToDo', 'ToDo:9')]
  const atMs = new Date(2026, 10, 22, 10, 5, 9).getTime()
  const cells = [[1, 2, 20, 0, 2048, 600, 3, 0]] as const
  const columns = [{ table: 'Entities', atMs, stepMs: 1000, cells }] as const
  const whole = { format: 'sixtables-heat-1', isWhole: true, simulated: true, scale: 1, events: [] } as const
  const tablets = [{ table: 'Entities', id: 4, start: 0, end: 0, server: 2, splitRefusal: undefined }] as const
  recording.add({ ...whole, atMs: atMs + 1000, bounds: [{ hex: '', words: '', levels: [] }, a, b], columns, tablets })
  const axis = new HeatAxis()
  axis.add([a, b], () => [])
  const spans = tabletSpans('Entities', recording.tablets, [])
  const at = (row: number, ms: number): string =>
    placeWords({ recording, table: 'Entities', axis, spans, row, ms }, 'wait')
  expect(at(1, atMs + 500)).toBe(
    'p ›  › ToDo › ToDo:1 to before ToDo:9 · 10:05:09 · waited 30 ms each · 20 operations/s · 20 reads/s · ' +
      '2 KiB/s · 3 refused/s · tablet 4 on server 2',
  )
  expect(at(0, atMs + 500)).toBe(
    'the first key to before p ›  › ToDo › ToDo:1 · 10:05:09 · no load · tablet 4 on server 2',
  )
  expect(at(0, atMs - 1)).toContain('nothing recorded')
})
