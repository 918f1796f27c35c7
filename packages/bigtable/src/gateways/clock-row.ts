/**
 * The clock row of a database: it gives stamps to commits, and lists all unfinished ones.
 *
 *   M <database> "clock"      v   epoch(4) register(8)            register = the newest stamp given
 *                             g   at gateway 7: its unfinished commits      g   at gateway 9: …
 *                             h   what is settled (settled.ts)
 *
 * A stamp is max(own clock in microseconds + lead (clock-lead.ts), register last seen + 1). One conditional write gives it: if the register is
 * still below the stamp, and the epoch is the same, then the register becomes the stamp, and the gateway's list gets the new commits. With a
 * register of 500 and a clock at 480, the stamp is 501. All commits that wait in a gateway share a write; it makes one write at a time.
 *
 * - A stamp is above every stamp that was acknowledged before the stamp was requested.
 * - An unfinished commit with a stamp at or below the register is in a list.
 * - A list changes only together with a higher register, or by a strike, whose condition is the exact list. A write that arrives late therefore
 *   changes nothing, because a later one had a higher stamp.
 * - The low watermark is the smallest stamp in a list, or register + 1. Every commit below it is finished, or refused for ever.
 * - Clocks only give numbers; safety needs them only for things over an hour old (shared-store.md, Old cells). A clock may be set back: the
 *   register keeps the order, and ages are measured by the later of both. A wrong clock gives no stamps (compared-clock/CK1).
 *
 * All of this is tested by test/property/gateways.test.ts.
 */
import { DatastoreError } from '@sixtables/engine'
import { topicRowKey } from '@sixtables/engine/store'
import { type Cells, OutcomeUnknown, type RowCondition, type RowKey } from '../row-store/row-store.ts'
import { ClockLead } from './clock-lead.ts'
import {
  type CommitId,
  decodeHead,
  encodeList,
  encodeRegister,
  type ListedCommit,
  listsWithHead,
} from './clock-list.ts'
import { type ClockState, clockCells, clockStateOf } from './clock-state.ts'
import { stepMicros } from './compared-clock.ts'
import { Settled } from './settled-version.ts'
import { readableMicros, type SharedStore } from './shared-store.ts'

/** A commit of this gateway. */
export interface OwnCommit extends ListedCommit {
  stamp: bigint
  /** Whether this gateway has finished it or given it up. */
  readonly isDone: boolean
  /** Resolves when it is applied or refused in all its groups. */
  readonly finished: Promise<void>
}

interface Entry extends OwnCommit {
  /** Time of the request, in milliseconds of the steady clock. */
  readonly sinceMs: number
  isDone: boolean
  finish(): void
}

interface Waiting {
  /** Absent for a request that only moves the register. */
  readonly entry: Entry | undefined
  /** The register must be at least this. */
  readonly moment: bigint
  /** The epoch in which its work began. */
  readonly epoch: number
  given(): void
  refused(error: unknown): void
}

/** The error after the epoch of the database was raised: definitions of its indexes were out of date, and have been read again. */
export class EpochRaised extends Error {}

const entriesMax = 256

export class ClockRow {
  /** Code of the database. */
  readonly database: string
  readonly settled: Settled
  readonly #store: SharedStore
  readonly key: RowKey
  /** Reads the metadata of the database again. */
  readonly #adopt: (database: string) => Promise<void>
  readonly #own = new Map<CommitId, Entry>()
  #waiting: Waiting[] = []
  #isWriting = false
  #wantsWrite = false
  #writes = 0n
  /** The highest stamp of any write so far. */
  #tried = 0n
  /** Whether the row exists; the first write creates it. */
  #state: 'unknown' | 'absent' | 'there' = 'unknown'
  #epoch = 0
  #register = 0n
  readonly #lead: ClockLead
  #low = 0n
  #reading: Promise<unknown> = Promise.resolve()
  #nextRead: Promise<ClockState> | undefined
  #adopting: Promise<void> = Promise.resolve()
  /** Deletions that block strong reads and commits. */
  readonly #gates = new Set<Promise<void>>()

  constructor(store: SharedStore, database: string, adopt: (database: string) => Promise<void>) {
    this.#store = store
    this.database = database
    this.key = clockRowKey(database)
    this.settled = new Settled(store.rows, this.key)
    this.#adopt = adopt
    this.#lead = new ClockLead(store.scheduler)
  }

  /** The newest register seen. */
  get register(): bigint {
    return this.#register
  }

  /** The time for measuring ages: the later of clock and register, so that nothing becomes younger when the clock is set back. */
  get now(): bigint {
    return latestOf(this.#store.scheduler.nowMicros(), this.#register)
  }

  /** Start of this gateway's oldest unfinished commit, in milliseconds of the steady clock. */
  get oldestMs(): number | undefined {
    let oldest: number | undefined
    for (const { isDone, sinceMs } of this.#own.values()) {
      if (!isDone && sinceMs < (oldest ?? Number.POSITIVE_INFINITY)) oldest = sinceMs
    }
    return oldest
  }

  /** The highest low watermark seen. */
  get low(): bigint {
    return this.#low
  }

  get epoch(): number {
    return this.#epoch
  }

  own(id: CommitId): OwnCommit | undefined {
    return this.#own.get(id)
  }

  /** The row at a moment after the call. Callers that wait at the same time share a read. */
  read(): Promise<ClockState> {
    this.#nextRead ??= this.#reading.then(() => {
      this.#nextRead = undefined
      const reading = this.#read()
      this.#reading = reading.catch(() => {})
      return reading
    })
    return this.#nextRead
  }

  /** Like {@link read}, but waits until no deletion is running in the database (closed-databases.ts). */
  async readOpen(): Promise<ClockState> {
    for (;;) {
      await this.whenOpen()
      const state = await this.read()
      if (this.#gates.size === 0) return state
    }
  }

  /** Resolves when this gateway knows of no deletion in the database. */
  async whenOpen(): Promise<void> {
    while (this.#gates.size > 0) await Promise.all(this.#gates)
  }

  /** Blocks commits and strong reads of this gateway during a deletion. @returns a function that ends the block */
  close(): () => void {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#gates.add(gate)
    return () => {
      this.#gates.delete(gate)
      open()
    }
  }

  async #read(): Promise<ClockState> {
    return this.take((await this.#store.rows.readRows([this.key], clockCells)).get(this.key)?.cells)
  }

  /**
   * Takes over the cells of the row from a read.
   *
   * @param cells - all {@link clockCells} of it; `undefined` without a row
   */
  async take(cells: Cells | undefined): Promise<ClockState> {
    this.settled.see(cells?.h?.[0])
    const state = clockStateOf(cells)
    const { epoch, register, listed } = state
    this.#state = cells?.v === undefined ? 'absent' : 'there'
    this.#see(register)
    let low = register + 1n
    for (const { stamp } of listed) if (stamp < low) low = stamp
    if (epoch > this.#epoch) await this.#raised(epoch)
    // After the block for a deletion, because the deletion's moment may be below this watermark.
    if (low > this.#low) this.#low = low
    return state
  }

  /**
   * Gives a commit its stamp, and lists it.
   *
   * @param epoch - the epoch in which its rows were read
   * @throws EpochRaised: the rows must be read again
   */
  async stamp(commit: Omit<ListedCommit, 'stamp'>, epoch: number): Promise<OwnCommit> {
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const sinceMs = this.#store.scheduler.steadyMs()
    const entry: Entry = { ...commit, stamp: 0n, sinceMs, isDone: false, finished, finish }
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

  /** Raises the register to a moment. */
  async observe(moment: bigint): Promise<void> {
    while (this.#register < moment) {
      try {
        await this.#given({ entry: undefined, epoch: this.#epoch, moment })
      } catch (error) {
        if (!(error instanceof EpochRaised)) throw error
      }
    }
  }

  /**
   * Raises the epoch, which all later stamps check.
   *
   * @param atLeast - the lowest new epoch
   * @returns the stamp at which it was raised
   */
  async raiseEpoch(atLeast = 0): Promise<bigint> {
    for (;;) {
      await this.read()
      await this.#store.comparedClock.ensureRight(this.#move)
      const next = this.#nextStamp(0n)
      this.#tried = next
      const epoch = Math.max(this.#epoch + 1, atLeast)
      const change = { type: 'set', family: 'v', at: 0n, value: encodeRegister(epoch, next) } as const
      try {
        if (!(await this.#store.rows.mutateRowIf(this.key, this.#below(next), [change]))) continue
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error
        continue
      }
      this.#state = 'there'
      this.#see(next)
      await this.#raised(epoch)
      return next
    }
  }

  /** Removes resolved commits from the list of a gateway, unless the list has changed since `state` was read. */
  async strike(state: ClockState, gateway: bigint, resolved: ReadonlySet<CommitId>): Promise<void> {
    const head = state.lists.get(gateway)
    if (head === undefined) return
    const left = state.listed.filter((one) => one.gateway === gateway && !resolved.has(one.id))
    const { write, strikes } = decodeHead(head)
    const list = encodeList({ write, strikes: strikes + 1, commits: left })
    const condition: RowCondition = { family: 'g', at: gateway, values: listsWithHead(head) }
    const change =
      left.length > 0
        ? ({ type: 'set', family: 'g', at: gateway, value: list } as const)
        : ({ type: 'delete', family: 'g', from: gateway, until: gateway + 1n } as const)
    try {
      await this.#store.rows.mutateRowIf(this.key, condition, [change])
    } catch (error) {
      // The strike only saves work of others, so its outcome does not matter.
      if (!(error instanceof OutcomeUnknown)) throw error
    }
  }

  /** Distance by which a stamp of now would raise the register. */
  get #move(): bigint {
    return this.#store.scheduler.nowMicros() - this.#register
  }

  /** @param observed - a moment that the register must reach @throws UNAVAILABLE if the clock was set back since that moment was chosen */
  #nextStamp(observed: bigint): bigint {
    // A clock that was set a moment ago, or that a write without commits did not wait for, must not be used.
    const isRight = this.#store.comparedClock.isRight(this.#move)
    const own = isRight ? this.#store.scheduler.nowMicros() + this.#lead.micros : 0n
    if (observed > latestOf(own, this.#register) + stepMicros) throw setBack()
    // Above `#tried`, because an earlier write of this gateway may still arrive.
    return latestOf(own, observed, this.#register + 1n, this.#tried + 1n)
  }

  #below(next: bigint): RowCondition {
    if (this.#state === 'absent') return { family: 'v', values: undefined }
    return { family: 'v', values: { start: encodeRegister(this.#epoch, 0n), end: encodeRegister(this.#epoch, next) } }
  }

  #see(register: bigint): void {
    if (register > this.#register) this.#register = register
  }

  /** Handles raised epochs one after the other, so that an earlier read cannot replace a later one. */
  #raised(epoch: number): Promise<void> {
    const adopted = this.#adopting.then(async () => {
      if (epoch <= this.#epoch) return
      await this.#adopt(this.database)
      this.#epoch = epoch
    })
    this.#adopting = adopted.catch(() => {})
    return adopted
  }

  #write(): void {
    if (this.#isWriting) return
    this.#isWriting = true
    this.#store.inBackground(async () => {
      try {
        while (this.#waiting.length > 0 || this.#wantsWrite) await this.#writeOnce()
      } finally {
        this.#isWriting = false
      }
    })
  }

  async #writeOnce(): Promise<void> {
    for (const [id, { isDone }] of this.#own) if (isDone) this.#own.delete(id)
    const batch = this.#waiting.splice(0, entriesMax - this.#own.size)
    // The list is full until a commit is finished.
    if (batch.length === 0 && !this.#wantsWrite) return await this.#store.sleep(5)
    this.#wantsWrite = false
    const entries = batch.flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
    try {
      if (this.#state === 'unknown') await this.read()
      const observed = latestOf(0n, ...batch.map(({ moment }) => moment))
      for (;;) {
        // A write that only removes commits from the list does not need the clock.
        if (batch.length > 0) await this.#store.comparedClock.ensureRight(this.#move)
        await this.#forgetStruck(entries)
        // A read may have raised the epoch.
        const isOld = batch.some(({ epoch }) => epoch !== this.#epoch)
        if (isOld && !this.#store.isOff('epoch-check')) throw new EpochRaised()
        const sentMs = this.#store.scheduler.steadyMs()
        if (await this.#tryStamps(entries, observed)) break
        const tookMs = this.#store.scheduler.steadyMs() - sentMs
        await this.read()
        this.#lead.cameLate(this.#register, tookMs)
      }
    } catch (error) {
      for (const { id, finish } of entries) {
        this.#own.delete(id)
        // The commit never gets another stamp, so reads that have seen it in the list need not wait.
        finish()
      }
      for (const { refused } of batch) refused(error)
      this.#wantsWrite = !this.#store.isOver
      if (error instanceof EpochRaised || this.#store.isOver) return
      if (!(error instanceof DatastoreError)) throw error
      return await this.#store.pause(4)
    }
    for (const { given } of batch) given()
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
      if (listed.some(({ id, gateway }) => id === entry.id && gateway === this.#store.gateway)) continue
      this.#own.delete(entry.id)
      entry.isDone = true
      entry.finish()
    }
  }

  /** Makes one conditional write. @returns whether these commits have their stamps now */
  async #tryStamps(entries: readonly Entry[], observed: bigint): Promise<boolean> {
    const next = this.#nextStamp(observed)
    let last = next
    for (const [i, entry] of entries.entries()) {
      last = next + BigInt(i)
      entry.stamp = last
      if (!this.#store.isOff('clock-list')) this.#own.set(entry.id, entry)
    }
    this.#tried = last
    const write = ++this.#writes
    const list = encodeList({ write, strikes: 0, commits: [...this.#own.values()].filter(({ isDone }) => !isDone) })
    const changes = [
      { type: 'set', family: 'v', at: 0n, value: encodeRegister(this.#epoch, last) },
      { type: 'set', family: 'g', at: this.#store.gateway, value: list },
    ] as const
    try {
      if (!(await this.#store.rows.mutateRowIf(this.key, this.#below(next), changes))) return false
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      const { lists } = await this.#store.persistently(() => this.read())
      const head = lists.get(this.#store.gateway)
      if (head === undefined || decodeHead(head).write !== write) return false
    }
    this.#state = 'there'
    this.#see(last)
    return true
  }
}

function setBack(): DatastoreError {
  return new DatastoreError('UNAVAILABLE', 'the clock of this gateway was set back during the call; try again')
}

/** The latest of some moments. */
export function latestOf(first: bigint, ...others: readonly bigint[]): bigint {
  let latest = first
  for (const moment of others) if (moment > latest) latest = moment
  return latest
}

export const clockTopic = 'clock'

function clockRowKey(database: string): RowKey {
  return topicRowKey(database, clockTopic)
}
