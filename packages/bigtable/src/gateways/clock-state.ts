/** The state of a clock row from one read: epoch and register of its database, and every unfinished commit. */
import type { Cells, Wanted } from '../row-store/row-store.ts'
import { decodeList, decodeRegister, headOfList, type ListedCommit } from './clock-list.ts'
import { Settled } from './settled-version.ts'

/** A commit in a gateway's list. */
export interface Listed extends ListedCommit {
  readonly gateway: bigint
}

export interface ClockState {
  readonly epoch: number
  readonly register: bigint
  readonly listed: readonly Listed[]
  /** The head of each gateway's list, by its number. */
  readonly lists: ReadonlyMap<bigint, string>
}

/** The cells of a clock row for a read. */
export const clockCells: Wanted = [{ family: 'v', newest: 1 }, { family: 'g' }, Settled.wanted]

/** @param cells - all {@link clockCells} of the row; `undefined` without a row */
export function clockStateOf(cells: Cells | undefined): ClockState {
  const stored = cells?.v?.[0]?.value
  const { epoch, register } = stored === undefined ? { epoch: 0, register: 0n } : decodeRegister(stored)
  const listed: Listed[] = []
  const lists = new Map<bigint, string>()
  for (const { at: gateway, value } of cells?.g ?? []) {
    const list = decodeList(value)
    lists.set(gateway, headOfList(list))
    for (const commit of list.commits) listed.push({ ...commit, gateway })
  }
  return { epoch, register, listed, lists }
}
