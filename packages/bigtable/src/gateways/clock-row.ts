/**
 * The stamps of a database: one of its clock rows (clock-rows.ts) gives them to the commits of this gateway, and lists the unfinished ones.
 *
 *   M <database> "clock"      v   epoch, register, given, numbers of rows        given = the newest stamp, at most the register
 *                             g   at gateway 7: its unfinished commits      g   at gateway 9: …
 *                             h   what is settled (settled-version.ts), in row 0 alone
 *
 * A stamp is max(own clock in microseconds + lead (clock-lead.ts), highest stamp given in any row + 1, register last seen of the own row + 1), and
 * equal to the number of the row modulo the rows in use, so that no two rows give the same. One conditional write gives it: if the register is
 * still below the stamp, and the epoch is the same, then the register becomes the stamp, and the gateway's list gets the new commits. With a
 * register of 500 and a clock at 480, the stamp is 501. All commits that wait in a gateway share a write; it makes one write at a time.
 *
 * - An unfinished commit is in a list of the row in which it got its stamp, until it is finished.
 * - A list changes only together with a higher register, or by a strike, whose condition is the exact list: a write that arrives late changes
 *   nothing.
 * - Clocks only give numbers, and may be set back (docs/architecture/shared-store.md). A wrong clock gives no stamps (compared-clock/CK1).
 */
import { DatastoreError } from '@sixtables/engine'
import { OutcomeUnknown, type RowCondition } from '../row-store/row-store.ts'
import { ClockLead } from './clock-lead.ts'
import { aheadMicros, ClockRows, clockRowKey } from './clock-rows.ts'
import {
  type ClockState,
  type CommitId,
  encodeList,
  type GatewayList,
  type ListedCommit,
  latestOf,
  listsLike,
} from './clock-state.ts'
import { stepMicros } from './compared-clock.ts'
import { readableMicros, type SharedStore } from './shared-store.ts'

export interface OwnCommit extends ListedCommit {
  stamp: bigint
  /** Whether this gateway has finished it or given it up. */
  readonly isDone: boolean
  /** Resolves when it is applied or refused in all its groups. */
  readonly finished: Promise<void>
}

interface Entry extends OwnCommit {
  /** The clock row that gave its stamp. */
  row: number
  /** Time of the request, in milliseconds of the steady clock. */
  readonly sinceMs: number
  isDone: boolean
  finish(): void
}

interface Waiting {
  /** Absent for a request that only moves the register, to this moment at least. */
  readonly entry: Entry | undefined
  readonly moment: bigint
  /** The epoch in which its work began. */
  readonly epoch: number
  given(): void
  refused(error: unknown): void
}

/** The error after the epoch of the database was raised: definitions of its indexes were out of date, and have been read again. */
export class EpochRaised extends Error {}

const entriesMax = 256

export class ClockRow extends ClockRows {
  readonly #own = new Map<CommitId, Entry>()
  #waiting: Waiting[] = []
  #wantsWrite = false
  /** Stamps that wait for a reading. */
  #reading = 0
  #writes = 0n
  /** The highest stamp of any write so far. */
  #tried = 0n
  readonly #lead: ClockLead
  /** Rows that this gateway used before, while its list there has unfinished commits. */
  readonly #left = new Set<number>()

  constructor(store: SharedStore, database: string, adopt: (database: string) => Promise<void>) {
    super(store, database, adopt)
    this.#lead = new ClockLead(store.scheduler)
  }

  /** Start of this gateway's oldest unfinished commit, in milliseconds of the steady clock. */
  get oldestMs(): number | undefined {
    let oldest: number | undefined
    for (const { isDone, sinceMs } of this.#own.values()) {
      if (!isDone && sinceMs < (oldest ?? Number.POSITIVE_INFINITY)) oldest = sinceMs
    }
    return oldest
  }

  own(id: CommitId): OwnCommit | undefined {
    return this.#own.get(id)
  }

  /** Prepares stamps above all that were given before the call. Finished commits leave the list with these stamps. */
  async readBeforeStamps(): Promise<void> {
    if (this.numbers.rows === 1 || this.store.isOff('fresh-registers')) return
    this.#reading++
    try {
      await this.readRegisters()
      this.#reading--
    } catch (error) {
      this.#reading--
      this.#write()
      throw error
    }
  }

  /**
   * Gives a commit its stamp, and lists it; {@link readBeforeStamps} comes first.
   *
   * @param epoch - the epoch in which its rows were read
   * @throws EpochRaised: the rows must be read again
   */
  async stamp(commit: Omit<ListedCommit, 'stamp'>, epoch: number): Promise<OwnCommit> {
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const sinceMs = this.store.scheduler.steadyMs()
    const entry: Entry = { ...commit, stamp: 0n, row: 0, sinceMs, isDone: false, finished, finish }
    await this.#given({ entry, epoch, moment: 0n })
    return entry
  }

  #given(wanted: Pick<Waiting, 'entry' | 'epoch' | 'moment'>): Promise<void> {
    return new Promise((given, refused) => {
      this.#waiting.push({ ...wanted, given, refused })
      this.#write()
    })
  }

  /** Notes that the commit is applied or refused in all its groups. It leaves the list with the next stamp, or soon. */
  finish({ id }: OwnCommit): void {
    const entry = this.#own.get(id)
    if (entry === undefined || entry.isDone) return
    entry.isDone = true
    entry.finish()
    this.#wantsWrite = true
    this.#write()
  }

  /** Gives a stamp at or above a moment, to no commit, unless one is given. */
  async observe(moment: bigint): Promise<void> {
    while (this.given < moment) {
      try {
        await this.#given({ entry: undefined, epoch: this.epoch, moment })
      } catch (error) {
        if (!(error instanceof EpochRaised)) throw error
      }
    }
  }

  /**
   * Raises the epoch, which all later stamps check.
   *
   * @param atLeast - the lowest new epoch
   * @param change - other numbers of rows; `undefined` = the epoch is not to be raised after all
   * @returns a stamp of no commit: every later one is of the new epoch
   */
  async raiseEpoch(atLeast = 0, change: (state: ClockState) => RowNumbers | undefined = asBefore): Promise<bigint> {
    for (;;) {
      const state = await this.read()
      const numbers = change(state)
      if (numbers === undefined) return this.given
      await this.store.comparedClock.ensureRight(this.#move)
      // The numbers are of the epoch that was read; another reading may have found a new one meanwhile.
      if (state.epoch !== this.epoch) continue
      const stamp = latestOf(this.#nextStamp(0n), this.registerOf(0) + 1n)
      this.#tried = stamp
      const raised = { ...numbers, epoch: Math.max(this.epoch + 1, atLeast) }
      const given = this.store.isOff('epoch-above') ? state.given : stamp
      if (!(await this.writeIf(0, this.below(stamp), [this.cell(stamp, given, raised)]))) continue
      this.state = 'there'
      this.see(stamp)
      if ((raised.rows > 1 || this.numbers.rows > 1) && !this.store.isOff('epoch-in-all-rows')) break
      await this.raised(raised, state)
      return stamp
    }
    for (;;) {
      // Other rows may have given later stamps in the old epoch; this reading gives them the new one.
      await this.read()
      const stamp = this.#nextStamp(0n)
      this.#tried = stamp
      if (!(await this.writeIf(this.row, this.below(stamp), [this.cell(stamp)]))) continue
      this.see(stamp)
      return stamp
    }
  }

  /** Removes resolved commits from a list, unless it has changed since it was read. */
  async strike(found: GatewayList, resolved: ReadonlySet<CommitId>): Promise<void> {
    const { row, gateway, write, strikes } = found
    const left = found.commits.filter(({ id }) => !resolved.has(id))
    const list = encodeList({ write, strikes: strikes + 1, commits: left })
    const condition: RowCondition = { family: 'g', at: gateway, values: listsLike(found) }
    const change =
      left.length > 0
        ? ({ type: 'set', family: 'g', at: gateway, value: list } as const)
        : ({ type: 'delete', family: 'g', from: gateway, until: gateway + 1n } as const)
    // It only saves work of others, so its outcome does not matter.
    await this.writeIf(row, condition, [change])
  }

  /** Distance by which a stamp of now would raise the register. */
  get #move(): bigint {
    return this.store.scheduler.nowMicros() - this.given
  }

  /** @param observed - a moment that the register must reach @throws UNAVAILABLE if the clock was set back since that moment was chosen */
  #nextStamp(observed: bigint): bigint {
    // A clock that was set a moment ago, or that a write without commits did not wait for, must not be used.
    const isRight = this.store.comparedClock.isRight(this.#move)
    const own = isRight ? this.store.scheduler.nowMicros() + this.#lead.micros : 0n
    const given = this.store.isOff('all-registers') ? 0n : this.given
    if (observed > latestOf(own, this.given) + stepMicros) throw setBack()
    // Above `#tried`, because an earlier write of this gateway may still arrive.
    const least = latestOf(own, observed, given + 1n, this.registerOf(this.row) + 1n, this.#tried + 1n)
    const behind = (BigInt(this.row) - least) % this.#step
    return least + (behind < 0n ? behind + this.#step : behind)
  }

  /** The distance of two stamps of a row. */
  get #step(): bigint {
    return this.store.isOff('row-remainder') ? 1n : BigInt(this.numbers.used)
  }

  #write(): void {
    if (this.isWriting) return
    this.isWriting = true
    this.store.inBackground(async () => {
      try {
        while (this.#waiting.length > 0 || (this.#wantsWrite && this.#reading === 0)) await this.#writeOnce()
      } finally {
        this.isWriting = false
      }
    })
  }

  async #writeOnce(): Promise<void> {
    // All that have waited for the same reading share the write.
    if (this.numbers.rows > 1) await new Promise<void>((resolve) => this.store.scheduler.defer(resolve))
    for (const [id, { isDone, row }] of this.#own) {
      if (!isDone) continue
      this.#own.delete(id)
      if (row !== this.row) this.#left.add(row)
    }
    for (const row of this.#left) if (![...this.#own.values()].some((entry) => entry.row === row)) this.#leave(row)
    const batch = this.#waiting.splice(0, entriesMax - this.#own.size)
    // The list is full until a commit is finished.
    if (batch.length === 0 && !this.#wantsWrite) return await this.store.sleep(5)
    this.#wantsWrite = false
    const entries = batch.flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
    try {
      if (this.state === 'unknown') await this.read()
      const observed = latestOf(0n, ...batch.map(({ moment }) => moment))
      for (;;) {
        // A write that only removes commits from the list does not need the clock.
        if (batch.length > 0) await this.store.comparedClock.ensureRight(this.#move)
        await this.#forgetStruck(entries)
        // A read may have raised the epoch.
        const isOld = batch.some(({ epoch }) => epoch !== this.epoch)
        if (isOld && !this.store.isOff('epoch-check')) throw new EpochRaised()
        const sentMs = this.store.scheduler.steadyMs()
        if (await this.#tryStamps(entries, observed)) break
        const tookMs = this.store.scheduler.steadyMs() - sentMs
        await this.read()
        // Raised rows make stamps be ahead of the clock for a moment.
        this.#lead.cameLate(this.numbers.rows > 1 ? this.given - aheadMicros : this.given, tookMs)
      }
    } catch (error) {
      for (const { id, finish } of entries) {
        this.#own.delete(id)
        // The commit never gets another stamp, so reads that have seen it in the list need not wait.
        finish()
      }
      for (const { refused } of batch) refused(error)
      this.#wantsWrite = !this.store.isOver
      if (error instanceof EpochRaised || this.store.isOver) return
      if (!(error instanceof DatastoreError)) throw error
      return await this.store.pause(4)
    }
    for (const { given } of batch) given()
  }

  /** Strikes out the finished commits of this gateway in a row that it does not use any more. */
  #leave(row: number): void {
    this.#left.delete(row)
    this.store.inBackground(() =>
      this.store.persistently(async () => {
        const { lists } = await this.read()
        const list = lists.find((one) => one.row === row && one.gateway === this.store.gateway)
        const finished = list?.commits.flatMap(({ id }) => (this.#own.has(id) ? [] : [id]))
        if (list !== undefined) await this.strike(list, new Set(finished))
      }),
    )
  }

  /**
   * Drops commits of a process that stood still for an hour. Others may have resolved them and removed them from the list; listed again, they
   * would hold back reads and the low watermark.
   */
  async #forgetStruck(waiting: readonly Entry[]): Promise<void> {
    const oldest = this.now - readableMicros
    const old = [...this.#own.values()].filter((entry) => entry.stamp < oldest && !waiting.includes(entry))
    if (old.length === 0) return
    const { listed } = await this.read()
    for (const entry of old) {
      if (listed.some(({ id }) => id === entry.id)) continue
      this.#own.delete(entry.id)
      entry.isDone = true
      entry.finish()
    }
  }

  /** Makes one conditional write. @returns whether these commits have their stamps now */
  async #tryStamps(entries: readonly Entry[], observed: bigint): Promise<boolean> {
    const { row } = this
    const next = this.#nextStamp(observed)
    let last = next
    for (const [i, entry] of entries.entries()) {
      last = next + BigInt(i) * this.#step
      entry.stamp = last
      entry.row = row
      if (!this.store.isOff('clock-list')) this.#own.set(entry.id, entry)
    }
    this.#tried = last
    const write = ++this.#writes
    const commits = [...this.#own.values()].filter((entry) => entry.row === row && !entry.isDone)
    const list = encodeList({ write, strikes: 0, commits })
    const changes = [this.cell(last), { type: 'set', family: 'g', at: this.store.gateway, value: list }] as const
    try {
      if (!(await this.store.rows.mutateRowIf(clockRowKey(this.database, row), this.below(next), changes))) return false
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      const { lists } = await this.store.persistently(() => this.read())
      const own = lists.find((one) => one.row === row && one.gateway === this.store.gateway)
      if (own?.write !== write) return false
    }
    this.state = 'there'
    this.see(last)
    return true
  }
}

/** Numbers of clock rows: in use, and in a reading. */
export interface RowNumbers {
  readonly used: number
  readonly rows: number
}

function asBefore({ used, registers }: ClockState): RowNumbers {
  return { used, rows: registers.length }
}

function setBack(): DatastoreError {
  return new DatastoreError('UNAVAILABLE', 'the clock of this gateway was set back during the call; try again')
}
