/** The state of the clock rows of a database from one reading: its epoch, what was given and raised in each row, and every unfinished commit. */
import type { Cells, Wanted } from '../row-store/row-store.ts'
import { type ClockCell, decodeClock, decodeList, headOfList, type ListedCommit } from './clock-list.ts'
import { Settled } from './settled-version.ts'

/** A gateway's list in one of the clock rows. */
export interface GatewayList {
  readonly row: number
  readonly gateway: bigint
  /** Identifies the state of the list. */
  readonly head: string
  readonly commits: readonly ListedCommit[]
}

export interface ClockState {
  readonly epoch: number
  readonly used: number
  /** The highest stamp given: the moment of a strong read. */
  readonly given: bigint
  readonly registers: readonly bigint[]
  readonly listed: readonly ListedCommit[]
  readonly lists: readonly GatewayList[]
}

/** The cells of a clock row for a read. */
export const clockCells: Wanted = [{ family: 'v', newest: 1 }, { family: 'g' }, Settled.wanted]

/** The row of a database without commits. */
export const unwritten: ClockCell = { epoch: 0, register: 0n, given: 0n, used: 1, rows: 1 }

export function clockCellOf(cells: Cells | undefined): ClockCell | undefined {
  const stored = cells?.v?.[0]?.value
  return stored === undefined ? undefined : decodeClock(stored)
}

/** The cell of the newest epoch in a reading, which says how many rows there are. @param rows - {@link clockCells} of each row, from row 0 on */
export function newestOf(rows: readonly (Cells | undefined)[]): ClockCell {
  return rows.flatMap((cells) => clockCellOf(cells) ?? []).reduce((a, b) => (b.epoch > a.epoch ? b : a), unwritten)
}

/** Whether a reading has all rows of its newest epoch, and each with that epoch. */
export function isWhole(rows: readonly (Cells | undefined)[]): boolean {
  const newest = newestOf(rows)
  if (newest.rows === 1) return true
  return Array.from({ length: newest.rows }, (_, i) => clockCellOf(rows[i])).every((row) => row?.epoch === newest.epoch)
}

/** @param rows - {@link clockCells} of each row of a whole reading */
export function clockStateOf(all: readonly (Cells | undefined)[]): ClockState {
  const { epoch, used, rows: count } = newestOf(all)
  const rows = all.slice(0, count)
  const lists = rows.flatMap((cells, row) =>
    (cells?.g ?? []).map(({ at: gateway, value }): GatewayList => {
      const list = decodeList(value)
      return { row, gateway, head: headOfList(list), commits: list.commits }
    }),
  )
  const numbers = rows.map((cells) => clockCellOf(cells) ?? unwritten)
  return {
    epoch,
    used,
    given: latestOf(0n, ...numbers.map(({ given }) => given)),
    registers: numbers.map(({ register }) => register),
    listed: lists.flatMap(({ commits }) => commits),
    lists,
  }
}

/** Whether commits are under way, or another gateway has a list that it may have left. */
export function isBusy({ lists, listed }: ClockState, gateway: bigint): boolean {
  return listed.length > 0 || lists.some((list) => list.gateway !== gateway)
}

export function latestOf(first: bigint, ...others: readonly bigint[]): bigint {
  let latest = first
  for (const moment of others) if (moment > latest) latest = moment
  return latest
}

/** The earliest of some moments, at least one. */
export function earliestOf(moments: readonly bigint[]): bigint {
  const [first = 0n, ...others] = moments
  let earliest = first
  for (const moment of others) if (moment < earliest) earliest = moment
  return earliest
}
