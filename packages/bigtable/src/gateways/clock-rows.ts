/**
 * The clock rows of a database as one line of stamps: readings of all of them, moments that are closed in all of them, and new epochs. A database has
 * one clock row, or several, so that more gateways may give stamps at a time.
 *
 *   row 0   M <database> "clock"          epoch 3, register 541, given 500, 2 rows      lists of gateways 7 and 12
 *   row 1   M <database> "clock" "1"      epoch 3, register 521, given 521, 2 rows      list of gateway 9
 *
 * The moment of a strong read is the highest stamp given, here 521. Stamps at or below it are never given again, as each row has a register at or
 * above it, or is raised by the read.
 *
 * - A reading is no snapshot of several rows. It counts if it has all rows of its newest epoch, each with that epoch; otherwise the gateway first gives
 *   them that epoch. Every stamp of an epoch is above all that were given in the whole reading before it.
 * - No commit at or below a closed moment begins, and all unfinished ones are listed in the reading that closed it.
 * - The low watermark is the smallest listed stamp, or the least register + 1. Every commit below it is finished, or refused for ever.
 */
import { topicRowKey } from '@sixtables/engine/store'
import {
  type CellChange,
  type Cells,
  isKnownDone,
  type RowCondition,
  type RowKey,
  type Wanted,
} from '../row-store/row-store.ts'
import {
  type ClockCell,
  type ClockState,
  clockCellOf,
  clockCells,
  clockStateOf,
  earliestOf,
  encodeClock,
  encodeRegister,
  type GatewayList,
  isWhole,
  latestOf,
  newestOf,
  unwritten,
} from './clock-state.ts'
import { inRounds, shareRun } from './rounds.ts'
import { Settled } from './settled-version.ts'
import type { SharedStore } from './shared-store.ts'
import type { GatewayMechanism } from './switched-off.ts'

/** Time for which rows of other gateways are read again before they are raised; up to half as much more by chance. */
const looksForMs = 12
const lookEveryMs = 3
/** A raised row is closed for the readers of this time. */
export const aheadMicros = 20_000n

const registerCells: Wanted = [{ family: 'v', newest: 1 }]

type EpochNumbers = Pick<ClockCell, 'epoch' | 'used' | 'rows'>

export class ClockRows {
  /** Code of the database. */
  readonly database: string
  readonly settled: Settled
  protected readonly store: SharedStore
  /** The keys of the rows that are known, row 0 first. */
  keys: readonly RowKey[]
  /** Reads all rows at moments after the call. Callers that wait at the same time share a reading. */
  readonly read: () => Promise<ClockState>
  /** Reads the metadata of the database again. */
  readonly #adopt: (database: string) => Promise<void>
  /** Whether row 0 exists; the first write creates it. */
  protected state: 'unknown' | 'absent' | 'there' = 'unknown'
  protected numbers: EpochNumbers = { epoch: 0, used: 1, rows: 1 }
  /** Registers and lists at the latest reading. */
  #registers: readonly bigint[] = []
  #lists: readonly GatewayList[] = []
  #row: number | undefined
  /** The highest stamp that is known to be given. */
  given = 0n
  /** The highest low watermark seen. */
  low = 0n
  readonly #raising = new Map<number, Promise<boolean>>()
  #adopting: Promise<void> = Promise.resolve()
  /** Deletions that block strong reads and commits. */
  readonly #gates = new Set<Promise<void>>()
  /** Whether stamps of this gateway are being written. */
  protected isWriting = false

  constructor(store: SharedStore, database: string, adopt: (database: string) => Promise<void>) {
    this.store = store
    this.database = database
    const readings = new Map<'running', Promise<ClockState>>()
    const readWhole = (): Promise<ClockState> => this.#readWhole()
    this.read = store.isOff('later-reading') ? () => shareRun(readings, 'running', readWhole) : inRounds(readWhole)
    this.keys = [clockRowKey(database, 0)]
    this.settled = new Settled(store.rows, clockRowKey(database, 0))
    this.#adopt = adopt
  }

  /** The time for measuring ages: the later of clock and stamps, so that nothing becomes younger when the clock is set back. */
  get now(): bigint {
    return latestOf(this.store.scheduler.nowMicros(), this.given)
  }

  get epoch(): number {
    return this.numbers.epoch
  }

  /** The row in which this gateway gives stamps, chosen when it gives the first one. */
  protected get row(): number {
    this.#row ??= emptiestOf(this.numbers.used, this.#lists, this.store.gateway)
    return this.#row
  }

  protected registerOf(row: number): bigint {
    return this.#registers[row] ?? 0n
  }

  /** The registers of all rows at moments after the call, for a stamp: a reading of its own, since a stamp is worth less waiting than a call. */
  protected async readRegisters(): Promise<void> {
    // The choice of a row needs the lists.
    if (this.#row === undefined) return void (await this.read())
    const { keys } = this
    const found = await this.store.rows.readRows(keys, registerCells)
    const rows = keys.map((key) => found.get(key)?.cells)
    const { epoch, given, registers } = clockStateOf(rows)
    if (!isWhole(rows) || epoch !== this.epoch || registers.length > keys.length) return void (await this.read())
    this.#registers = registers
    this.see(given)
  }

  /**
   * A reading after the call that closes a moment, at most the highest stamp given: without one, that stamp.
   *
   * @returns with the moment as `given`, and all unfinished commits up to it
   */
  async closed(moment?: bigint): Promise<ClockState> {
    const { scheduler, random } = this.store
    const startMs = scheduler.steadyMs()
    let state = await this.read()
    let before: readonly bigint[] = []
    const given = moment ?? state.given
    for (let patienceMs: number | undefined; ; ) {
      const behind = state.registers.flatMap((register, row) => (register < given ? [row] : []))
      if (behind.length === 0 || this.store.isOff('raise')) return { ...state, given }
      patienceMs ??= looksForMs * (1 + random.next() / 2)
      const isLate = scheduler.steadyMs() - startMs >= patienceMs
      // A row that moves will soon be above the moment by itself.
      const isStill = (row: number): boolean => isLate && state.registers[row] === before[row]
      const raised = behind.filter((row) => isStill(row) || (row === this.#row && !this.isWriting))
      if (raised.length === 0) await this.store.sleep(lookEveryMs)
      await Promise.all(raised.map((row) => this.#raise(row, given)))
      if (raised.length > 0 && this.store.isOff('read-after-raise')) return { ...state, given }
      before = state.registers
      state = await this.read()
    }
  }

  /** Like {@link closed}, but waits until no deletion is running in the database (closed-databases.ts). */
  async closedAndOpen(moment?: bigint): Promise<ClockState> {
    for (;;) {
      await this.whenOpen()
      const state = await this.closed(moment)
      if (this.#gates.size === 0) return state
    }
  }

  /** Resolves when this gateway knows of no deletion in the database. */
  async whenOpen(): Promise<void> {
    while (this.#gates.size > 0) await Promise.all(this.#gates)
  }

  /** Blocks commits and strong reads of this gateway until a deletion has ended. */
  closeWhile(deletion: Promise<void>): void {
    const gate = deletion.catch(() => {}).finally(() => this.#gates.delete(gate))
    this.#gates.add(gate)
  }

  async #readWhole(): Promise<ClockState> {
    for (;;) {
      const { keys } = this
      const found = await this.store.rows.readRows(keys, clockCells)
      const state = await this.take(keys.map((key) => found.get(key)?.cells))
      if (state !== undefined) return state
    }
  }

  /**
   * Takes over the cells of the rows from a reading.
   *
   * @param rows - all {@link clockCells} of each row, `undefined` without a row
   * @returns `undefined` if the reading does not count: it must be repeated
   */
  async take(rows: readonly (Cells | undefined)[]): Promise<ClockState | undefined> {
    const newest = newestOf(rows)
    for (let row = this.keys.length; row < newest.rows; row++)
      this.keys = [...this.keys, clockRowKey(this.database, row)]
    if (rows.length < newest.rows) return undefined
    if (!isWhole(rows)) {
      const growing = this.#grow(rows, newest)
      if (!this.store.isOff('whole-epoch')) return await growing.then(() => undefined)
      growing.catch(() => {})
    }
    this.settled.see(rows[0]?.h?.[0])
    const state = clockStateOf(rows)
    this.see(state.given)
    const low = this.#lowOf(state)
    if (state.epoch > this.epoch) await this.raised(newest, state)
    if (state.epoch === this.epoch) {
      this.#registers = state.registers
      this.#lists = state.lists
    }
    // After the lists, by which the first stamp chooses its row.
    this.state = rows[0]?.v === undefined ? 'absent' : 'there'
    // After the block for a deletion, because the deletion's moment may be below this watermark.
    this.low = latestOf(this.low, low)
    return state
  }

  protected see(given: bigint): void {
    this.given = latestOf(this.given, given)
  }

  #lowOf({ registers, listed }: ClockState): bigint {
    const least = this.store.isOff('low-of-all-rows') ? latestOf(0n, ...registers) : earliestOf(registers)
    return this.store.isOff('low-of-lists') ? least + 1n : earliestOf([least + 1n, ...listed.map(({ stamp }) => stamp)])
  }

  /** Handles raised epochs one after the other, so that an earlier reading cannot replace a later one. */
  protected raised({ epoch, used, rows }: EpochNumbers, state: ClockState): Promise<void> {
    const adopted = this.#adopting.then(async () => {
      if (epoch <= this.epoch) return
      await this.#adopt(this.database)
      if (this.#row !== undefined && used !== this.numbers.used) this.#row = rankOf(state, this.store.gateway) % used
      this.numbers = { epoch, used, rows }
      this.keys = this.keys.slice(0, rows)
    })
    this.#adopting = adopted.catch(() => {})
    return adopted
  }

  /** Raises the register of a row to a moment, or a little ahead. Callers at the same time share a write, and read the row after it. */
  #raise(row: number, moment: bigint): Promise<boolean> {
    return shareRun(this.#raising, row, () => {
      // All stamps of the row are below the moment.
      const change = this.cell(latestOf(moment, this.#ahead), moment)
      return this.writeIf(row, this.#below(moment, 'raise-condition'), [change])
    })
  }

  /** A moment a little ahead of the clock; 0 if the clock may be wrong. */
  get #ahead(): bigint {
    const now = this.store.scheduler.nowMicros()
    return this.store.comparedClock.isRight(now - this.given) ? now + aheadMicros : 0n
  }

  /** Gives all rows the newest epoch that a reading has found. */
  async #grow(rows: readonly (Cells | undefined)[], newest: ClockCell): Promise<void> {
    const cells = Array.from({ length: newest.rows }, (_, row) => clockCellOf(rows[row]))
    const highest = latestOf(0n, ...cells.map((cell) => cell?.register ?? 0n))
    // Above the stamps that a busy row gives meanwhile, so that the change is not too late.
    const above = latestOf(highest + aheadMicros, this.#ahead)
    const grown = async (cell: ClockCell | undefined, row: number): Promise<void> => {
      if (cell?.epoch === newest.epoch) return
      const { register, given } = this.store.isOff('epoch-above')
        ? (cell ?? unwritten)
        : { register: above, given: above }
      const values = cell && { start: encodeRegister(cell.epoch, 0n), end: encodeRegister(cell.epoch, register + 1n) }
      await this.writeIf(row, { family: 'v', values }, [this.cell(register, given, newest)])
    }
    await Promise.all(cells.map(grown))
  }

  /** The change of a row to these numbers, in the current epoch or another one. */
  protected cell(register: bigint, given: bigint = register, numbers: EpochNumbers = this.numbers): CellChange {
    const { epoch, used, rows } = numbers
    return { type: 'set', family: 'v', at: 0n, value: encodeClock({ epoch, used, rows, register, given }) }
  }

  /** The condition that a row has the current epoch, and a register below a stamp. */
  protected below(stamp: bigint): RowCondition {
    return this.state === 'absent' ? { family: 'v', values: undefined } : this.#below(stamp, 'stamp-condition')
  }

  #below(stamp: bigint, mechanism: GatewayMechanism): RowCondition {
    const start = encodeRegister(this.epoch, 0n)
    const end = this.store.isOff(mechanism) ? encodeRegister(this.epoch + 1, 0n) : encodeRegister(this.epoch, stamp)
    return { family: 'v', values: { start, end } }
  }

  /** Changes a row on a condition. @returns whether it is known to be changed */
  protected writeIf(row: number, condition: RowCondition, changes: readonly CellChange[]): Promise<boolean> {
    return isKnownDone(this.store.rows.mutateRowIf(clockRowKey(this.database, row), condition, changes))
  }
}

/** The row for a gateway that starts: one of those with the fewest gateways. */
function emptiestOf(used: number, lists: readonly GatewayList[], gateway: bigint): number {
  const crowds = Array.from({ length: used }, (_, row) => lists.filter((list) => list.row === row).length)
  const least = Math.min(...crowds)
  const rows = crowds.flatMap((crowd, row) => (crowd === least ? [row] : []))
  return rows[Number(gateway % BigInt(rows.length))] as number
}

/** How many gateways with lists have lower numbers: after a change of the number of rows they are spread in the order of their numbers. */
function rankOf({ lists }: ClockState, gateway: bigint): number {
  return new Set(lists.filter((list) => list.gateway < gateway).map((list) => list.gateway)).size
}

export const clockTopic = 'clock'

export function clockRowKey(database: string, row: number): RowKey {
  return row === 0 ? topicRowKey(database, clockTopic) : topicRowKey(database, clockTopic, String(row))
}
