/**
 * The encoding of the cells of a clock row (clock-row.ts).
 *
 *   v            epoch(4) register(8)                                       of a database with one clock row
 *                epoch(4) register(8) given(8) used(4) rows(4)              of one with several
 *   g            write(8) strikes(4) count(4) { stamp(8) commit(text) count(4) group(text)… end(4) }…
 *
 * A text is its length in 4 bytes, then its bytes; `end` is 0. `write` counts the writes of the list's own gateway, `strikes` the changes by
 * other gateways since then: together they identify one state of the list.
 */
import { invariant } from '@sixtables/engine'
import { byteString, bytesOf, decodeUint64, encodeUint64, type GroupCode } from '@sixtables/engine/store'

/** A unique name of a commit. */
export type CommitId = string

/** A commit with a stamp that is not known to be finished. */
export interface ListedCommit {
  readonly id: CommitId
  readonly stamp: bigint
  /** All its groups in the order of their codes; the first is the primary. */
  readonly groups: readonly GroupCode[]
}

export interface CommitList {
  readonly write: bigint
  readonly strikes: number
  readonly commits: readonly ListedCommit[]
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

export function decodeClock(cell: Uint8Array): ClockCell {
  const code = byteString(cell)
  invariant(code.length === 12 || code.length === 28, 'a clock row has an epoch and a register')
  const [epoch, register] = [numberAt(code, 0), decodeUint64(code, 4)]
  if (code.length === 12) return { epoch, register, given: register, used: 1, rows: 1 }
  return { epoch, register, given: decodeUint64(code, 12), used: numberAt(code, 20), rows: numberAt(code, 24) }
}

export function encodeList({ write, strikes, commits }: CommitList): Uint8Array {
  let code = headOfList({ write, strikes }) + uint32(commits.length)
  for (const { id, stamp, groups } of commits) {
    code += encodeUint64(stamp) + textOf(id) + uint32(groups.length) + groups.map(textOf).join('') + uint32(end)
  }
  return bytesOf(code)
}

/** The first bytes of a list, which identify its state. */
export function headOfList({ write, strikes }: Pick<CommitList, 'write' | 'strikes'>): string {
  return encodeUint64(write) + uint32(strikes)
}

/** @param head - the first bytes of a list, or all of them */
export function decodeHead(head: string): Pick<CommitList, 'write' | 'strikes'> {
  return { write: decodeUint64(head, 0), strikes: numberAt(head, 8) }
}

/** The byte strings of all lists with this head, as a range. */
export function listsWithHead(head: string): { readonly start: Uint8Array; readonly end: Uint8Array } {
  const { write, strikes } = decodeHead(head)
  return { start: bytesOf(head), end: bytesOf(headOfList({ write, strikes: strikes + 1 })) }
}

export function decodeList(cell: Uint8Array): CommitList {
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
  return { ...decodeHead(code), commits }
}

function numberAt(code: string, at: number): number {
  return Number(decodeUint64(`\0\0\0\0${code.slice(at, at + 4)}`, 0))
}
