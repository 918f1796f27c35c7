/**
 * The cells of the clock rows of a database (clock-row.ts), and its state by one reading of them: the epoch, what was given and raised in each
 * row, and every unfinished commit.
 *
 *   v            epoch(4) register(8)                                       of a database with one clock row
 *                epoch(4) register(8) given(8) used(4) rows(4)              of one with several
 *   g            write(8) strikes(4) count(4) { stamp(8) commit(text) count(4) group(text)… end(4) }…
 *
 * A text is its length in 4 bytes, then its bytes; `end` is 0.
 */
import { invariant } from '@sixtables/engine'
import { byteString, bytesOf, decodeUint64, encodeUint64, type GroupCode } from '@sixtables/engine/store'
import type { Cells, Wanted } from '../row-store/row-store.ts'

export type CommitId = string

/** A commit with a stamp that is not known to be finished. */
export interface ListedCommit {
  readonly id: CommitId
  readonly stamp: bigint
  /** All its groups in the order of their codes; the first is the primary. */
  readonly groups: readonly GroupCode[]
}

/** The two numbers identify one state of a list. */
interface ListHead {
  /** Number of the latest write of the list by its own gateway. */
  readonly write: bigint
  /** Number of changes by other gateways since then. */
  readonly strikes: number
}

interface CommitList extends ListHead {
  readonly commits: readonly ListedCommit[]
}

export interface GatewayList extends CommitList {
  readonly row: number
  readonly gateway: bigint
}

const end = 0
const uint32 = (value: number): string => encodeUint64(BigInt(value)).slice(4)
const textOf = (text: string): string => uint32(text.length) + text

export interface ClockCell {
  readonly epoch: number
  /** No stamp at or below it is given in the row any more. */
  readonly register: bigint
  /** At least the highest stamp given in the row, at most its register. */
  readonly given: bigint
  /** Number of rows in which stamps are given in this epoch. */
  readonly used: number
  /** Number of rows in a reading: more than `used` while rows are being taken away. */
  readonly rows: number
}

/** The first bytes of all cells with this epoch and register. */
export function encodeRegister(epoch: number, register: bigint): Uint8Array {
  return bytesOf(uint32(epoch) + encodeUint64(register))
}

export function encodeClock({ epoch, register, given, used, rows }: ClockCell): Uint8Array {
  const several = rows === 1 ? '' : encodeUint64(given) + uint32(used) + uint32(rows)
  return bytesOf(uint32(epoch) + encodeUint64(register) + several)
}

function decodeClock(cell: Uint8Array): ClockCell {
  const code = byteString(cell)
  invariant(code.length === 12 || code.length === 28, 'a clock row has an epoch and a register')
  const [epoch, register] = [numberAt(code, 0), decodeUint64(code, 4)]
  if (code.length === 12) return { epoch, register, given: register, used: 1, rows: 1 }
  return { epoch, register, given: decodeUint64(code, 12), used: numberAt(code, 20), rows: numberAt(code, 24) }
}

export function encodeList({ commits, ...head }: CommitList): Uint8Array {
  let code = encodeHead(head) + uint32(commits.length)
  for (const { id, stamp, groups } of commits) {
    code += encodeUint64(stamp) + textOf(id) + uint32(groups.length) + groups.map(textOf).join('') + uint32(end)
  }
  return bytesOf(code)
}

function encodeHead({ write, strikes }: ListHead): string {
  return encodeUint64(write) + uint32(strikes)
}

/** The byte strings of all lists in this state, as a range. */
export function listsLike({ write, strikes }: ListHead): { readonly start: Uint8Array; readonly end: Uint8Array } {
  return { start: bytesOf(encodeHead({ write, strikes })), end: bytesOf(encodeHead({ write, strikes: strikes + 1 })) }
}

function decodeList(cell: Uint8Array): CommitList {
  const code = byteString(cell)
  let at = 12
  const count = (): number => {
    const value = numberAt(code, at)
    at += 4
    return value
  }
  const text = (): string => {
    const length = count()
    at += length
    invariant(at <= code.length, 'a list of commits ends where it says')
    return code.slice(at - length, at)
  }
  const commits: ListedCommit[] = []
  for (let left = count(); left > 0; left--) {
    const stamp = decodeUint64(code, at)
    at += 8
    const id = text()
    const groups = Array.from({ length: count() }, text)
    invariant(count() === end, 'a commit in a list ends where it says')
    commits.push({ id, stamp, groups })
  }
  return { write: decodeUint64(code, 0), strikes: numberAt(code, 8), commits }
}

function numberAt(code: string, at: number): number {
  return Number(decodeUint64(`\0\0\0\0${code.slice(at, at + 4)}`, 0))
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

export const clockCells: Wanted = [{ family: 'v', newest: 1 }, { family: 'g' }, { family: 'h', newest: 1 }]

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
    (cells?.g ?? []).map(({ at: gateway, value }): GatewayList => ({ row, gateway, ...decodeList(value) })),
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
export function earliestOf([first = 0n, ...others]: readonly bigint[]): bigint {
  let earliest = first
  for (const moment of others) if (moment < earliest) earliest = moment
  return earliest
}
