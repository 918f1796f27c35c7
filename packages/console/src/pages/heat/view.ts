/**
 * The part of the recordings that is shown: a time, as ages before the end of each, and for each table a range of keys.
 *
 * All recordings show the same ages, so that two of them run side by side.
 */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useEvents } from '../../components/use-server.ts'
import type { HeatAxis } from '../../model/heat-axis.ts'
import { metrics, type Window } from '../../model/heat-plane.ts'
import type { TabletSpan } from '../../model/heat-tablets.ts'
import type { Report } from '../../model/recorded-heat.ts'
import { addressOf, navigate, type PageProps, type QueryMembers } from '../../model/route.ts'
import { Recordings, type Source } from './recordings.ts'

type Ages = Pick<Window, 'fromMs' | 'toMs'>

/** Bytes of row keys, '' for an open end. */
type KeyRange = Pick<TabletSpan, 'startHex' | 'endHex'>

export const spans = [
  { name: '2m', title: '2 minutes', ms: 120_000 },
  { name: '10m', title: '10 minutes', ms: 600_000 },
  { name: '1h', title: '1 hour', ms: 3_600_000 },
  { name: '1d', title: '1 day', ms: 86_400_000 },
] as const

const spanMsMin = 5_000
const rowsMin = 2

export function windowOf(endMs: number, ages: Ages, axis: HeatAxis, keys: KeyRange | undefined): Window {
  const fromRow = keys === undefined ? 0 : axis.rowOfHex(keys.startHex)
  const toRow =
    keys === undefined || keys.endHex === '' ? axis.count : Math.max(fromRow + 1, axis.rowOfHex(keys.endHex))
  return { fromMs: endMs - ages.fromMs, toMs: endMs - ages.toMs, fromRow, toRow }
}

/** A window around a point, by a factor below 1 to come nearer. */
export function zoomed(window: Window, at: { readonly ms: number; readonly row: number }, factor: number): Window {
  const around = (from: number, to: number, place: number, least: number): readonly [number, number] => {
    const length = Math.max(least, (to - from) * factor)
    const share = (place - from) / (to - from)
    return [place - share * length, place + (1 - share) * length]
  }
  const [fromMs, toMs] = around(window.fromMs, window.toMs, at.ms, spanMsMin)
  const [fromRow, toRow] = around(window.fromRow, window.toRow, at.row, rowsMin)
  return { fromMs, toMs, fromRow, toRow }
}

function keysOf({ fromRow, toRow }: Window, axis: HeatAxis): KeyRange | undefined {
  const [first, last] = [Math.max(0, Math.floor(fromRow)), Math.min(axis.count, Math.ceil(toRow))]
  if (first === 0 && last === axis.count) return undefined
  return { startHex: axis.hexAt(first), endHex: last === axis.count ? '' : axis.hexAt(last) }
}

export type Heat = ReturnType<typeof useHeat>

/** The state of the page, which all of its parts get: recordings, choices, and what follows from both. */
export function useHeat(route: PageProps['route']) {
  const recordings = useMemo(() => new Recordings(), [])
  const [refused, setRefused] = useState<Error | undefined>(undefined)
  useEvents<Report>('/emulator/heat/live', {
    onEvent: (report) => recordings.addLive(report),
    onRefused: setRefused,
  })
  void recordings.changed.value
  const choice = useChoice(route)
  const view = useView(recordings, choice.span.ms)
  const [names, setNames] = useState<readonly string[]>(['Live'])
  const [hasBorders, setBorders] = useState(true)
  const shown = names.flatMap((name) => recordings.sources.filter((source) => source.name === name))
  const [main = recordings.sources[0] as Source] = shown
  /** Tables with load; `tables` are those of them that are chosen. */
  const there = recordings.tables(shown)
  const tables = choice.tables.filter((table) => there.includes(table))
  const { metric } = choice
  const most = recordings.mostOf(shown, tables, metric)
  return {
    ...{ recordings, refused, choice, view, names, setNames, hasBorders, setBorders },
    ...{ shown, main, there, tables, metric, most },
  }
}

const byItself: QueryMembers = { tables: 'Entities', measure: 'operations', time: spans[0].name }

function useChoice({ query }: PageProps['route']) {
  const named = query.get('tables')
  const tables = named === null ? ['Entities'] : named.split(',').filter((table) => table !== '')
  const metric = metrics.find((one) => one === query.get('measure')) ?? 'operations'
  const span = spans.find(({ name }) => name === query.get('time')) ?? spans[0]
  const set = (changed: QueryMembers): void => {
    const members = { tables: tables.join(), measure: metric, time: span.name, ...changed }
    // Members that are so by themselves are not in the address.
    const chosen = Object.entries(members).filter(([name, value]) => value !== byItself[name])
    navigate(addressOf('heat', [], Object.fromEntries(chosen)), { replace: true })
  }
  const show = (table: string, isOn = true): void =>
    set({ tables: [...tables.filter((one) => one !== table), ...(isOn ? [table] : [])].join() })
  return { tables, metric, span, set, show }
}

/** The part that is shown. `zoom` goes to a part of a picture: without a window to everything, without a table in time alone. */
function useView(recordings: Recordings, spanMs: number) {
  const [ages, setAges] = useState<Ages>({ fromMs: spanMs, toMs: 0 })
  const [keys, setKeys] = useState<ReadonlyMap<string, KeyRange>>(new Map())
  useEffect(() => setAges({ fromMs: spanMs, toMs: 0 }), [spanMs])
  const isPaused = recordings.frozen !== undefined
  const pause = (wanted: boolean): void => {
    if (wanted !== isPaused) recordings.pause(wanted)
    if (!wanted) setAges(({ fromMs, toMs }) => ({ fromMs: fromMs - toMs, toMs: 0 }))
  }
  /** A part that has an end before now would move away under the pointer. */
  const show = (next: Ages): void => {
    if (next.toMs > 0) pause(true)
    setAges(next)
  }
  const reset = (): void => {
    setKeys(new Map())
    setAges({ fromMs: spanMs, toMs: 0 })
  }
  return {
    ages,
    keys,
    isPaused,
    pause,
    reset,
    zoom: (table: string | undefined, window: Window | undefined, endMs: number) => {
      if (window === undefined) return reset()
      const toMs = Math.max(0, endMs - window.toMs)
      show({ fromMs: Math.min(86_400_000, Math.max(toMs + spanMsMin, endMs - window.fromMs)), toMs })
      if (table === undefined) return
      const range = keysOf(window, recordings.axisOf(table))
      setKeys((before) => {
        const next = new Map(before)
        if (range === undefined) next.delete(table)
        else next.set(table, range)
        return next
      })
    },
    scrub: (toMs: number) => show({ fromMs: toMs + ages.fromMs - ages.toMs, toMs }),
    include: (ageMs: number) => {
      if (ageMs <= ages.fromMs && ageMs >= ages.toMs) return
      const half = (ages.fromMs - ages.toMs) / 2
      const toMs = Math.max(0, ageMs - half)
      show({ fromMs: toMs + 2 * half, toMs })
    },
  }
}
