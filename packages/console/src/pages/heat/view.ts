/**
 * The part of the recordings that is shown: a time, as ages before the end of each, and for each table a range of keys.
 *
 * All recordings show the same ages, so that two of them run side by side.
 */
import type { HeatAxis } from '../../model/heat-axis.ts'
import type { Window } from '../../model/heat-plane.ts'

export interface Ages {
  readonly fromMs: number
  readonly toMs: number
}

/** Bytes of row keys, '' for an open end. */
export interface KeyRange {
  readonly startHex: string
  readonly endHex: string
}

export const spans = [
  { name: '2m', title: '2 minutes', ms: 120_000 },
  { name: '10m', title: '10 minutes', ms: 600_000 },
  { name: '1h', title: '1 hour', ms: 3_600_000 },
  { name: '1d', title: '1 day', ms: 86_400_000 },
] as const

export const spanMsMin = 5_000
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

/** The keys of the rows of a window; `undefined`: all. */
export function keysOf({ fromRow, toRow }: Window, axis: HeatAxis): KeyRange | undefined {
  const [first, last] = [Math.max(0, Math.floor(fromRow)), Math.min(axis.count, Math.ceil(toRow))]
  if (first === 0 && last === axis.count) return undefined
  return { startHex: axis.hexAt(first), endHex: last === axis.count ? '' : axis.hexAt(last) }
}
