/**
 * Metering: charges the row operations of requests to tablets, and in a simulation gives each request its delay or refusal.
 *
 *   begin ─▶ take … take ─▶ [admit, before a commit's log append] ─▶ take … ─▶ settle
 *
 * A put of ToDo:1 {owner: "ada"} takes the read of its row in Entities and its log record, both charged to the ledger of the
 * request; applying it then takes its four rows in the tables (commit-charges.ts). Taken operations wait in a list until they are
 * charged: each adds to the load of its tablet, and decisions that are due by then are made, such as splits (fleet.ts).
 *
 * Only admit() refuses a commit, so a refused commit has written nothing. Rows are served in parallel: if ToDo:1 takes 5 ms and
 * ToDo:2 takes 20 ms, a lookup of both takes 20 ms. A tablet that moves (known) and a full server refuse requests at once.
 *
 * Without simulation operations are sampled (meter.ts). An entity that is written counts as one operation with all its rows.
 * While heat is watched, nothing is sampled.
 */
import type { Scheduler } from '../../clock.ts'
import { CountingLedger, checkAlive, type RequestContext } from '../../context.ts'
import { DatastoreError } from '../../errors.ts'
import { rowCountOf, rowsOf, type Stage } from '../../log/record-writes.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { Meter, Refusal, RequestLoad } from '../../meter.ts'
import type { Random } from '../../random.ts'
import type { LedgerEntry } from '../../row.ts'
import { WorkInTurns } from '../../slices.ts'
import { type RowKey, workOf } from '../../storage/kv.ts'
import { type EntityRows, type RowChange, RowProducer, tableOfRow } from '../../tables/entity-rows.ts'
import { groupOfLogRow, rowInTablet } from '../../tables/log-rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { Charge, TabletFleet } from './fleet.ts'
import type { GroupLoad } from './group-load.ts'
import { rowKeyWords } from './range-words.ts'
import { LatencyHistogram } from './step-ring.ts'
import type { Tablet } from './tablet.ts'

/** Without simulation, while operations are sampled, one of this many requests is timed, and stands for the others. */
const timedEvery = 16
/** Number of rows, or their equivalent in bytes (workOf), that are charged together, in less than a millisecond. */
const waitingMax = 256
/** An entity with more rows is sampled, at about half as many places with one or two rows: all of 40,000 would delay other calls. */
const rowsOfEntityMax = 512

export interface SampleEvent extends LedgerEntry {
  readonly weight: number
  readonly atMicros: bigint
}

export type SampleListener = (sample: SampleEvent) => void

interface Taken extends LedgerEntry {
  readonly load: RequestLoad | undefined
  readonly through: RowKey | undefined
  readonly standsFor: number
  readonly micros: bigint
}

interface TakenEntity extends Pick<Taken, 'load' | 'standsFor' | 'micros'> {
  readonly change: EntityRows
  readonly stage: Stage
}

export interface MeteringParts {
  readonly fleet: TabletFleet
  readonly groups: GroupLoad
  readonly scheduler: Scheduler
  readonly random: Random
}

/** The work of charging an operation, in rows. An entity holds both images while it waits. */
function workOfTaken(taken: Taken | TakenEntity): number {
  if (!('change' in taken)) return 1
  const { change, stage } = taken
  return workOf(Math.min(rowCountOf({ changes: [change] }, stage), rowsOfEntityMax), change.before, change.after)
}

export class Metering implements Meter {
  countdown = 1
  /** Number of operations that the next one taken stands for. */
  #standsFor = 1
  /** Sampled operations of a past second, for which the next sample stands too. */
  #carried = 0
  /** The current second, and the number of operations taken in it. */
  #second = 0
  #taken = 0
  /** The end of that second, in milliseconds of the steady clock. */
  #sampledUntil = 0
  /** Whether nothing is sampled and nothing waits: in a simulation, and while heat is watched, to the end of that second. */
  isExact = false
  /** Operations that are taken but not charged yet; none while it is exact. */
  #waiting: (Taken | TakenEntity)[] = []
  #waitingWork = 0
  readonly #charging: WorkInTurns
  /** Requests until the next timed one, and since the last one. */
  #requestCountdown = 0
  #untimed = 0
  readonly latencies: LatencyHistogram = new LatencyHistogram()
  readonly listeners: Set<SampleListener> = new Set()
  readonly #fleet: TabletFleet
  readonly #parts: MeteringParts

  constructor(parts: MeteringParts) {
    this.#fleet = parts.fleet
    this.#parts = parts
    this.#charging = new WorkInTurns(parts.scheduler, () => this.#charges())
    this.#noteExact()
  }

  nowMs(): number {
    return Number(this.#parts.scheduler.nowMicros()) / 1000
  }

  begin(context: RequestContext): void {
    const { ledger } = context
    if (context.isUncounted || !(ledger instanceof CountingLedger)) return
    // In a new second, operations are charged one by one again.
    if (this.countdown > 1 && this.#parts.scheduler.steadyMs() >= this.#sampledUntil) this.takeAll()
    ledger.meter = this
    this.#untimed++
    const isTimed = this.countdown <= 1 || --this.#requestCountdown <= 0
    const { weight, spreadMs } = context
    ledger.load = undefined
    if (!isTimed && weight === 1 && !this.#fleet.settings.simulate) return
    const requests = isTimed ? this.#untimed : 0
    if (isTimed) {
      this.#requestCountdown = 1 + this.#parts.random.integer(2 * timedEvery - 1)
      this.#untimed = 0
    }
    const startedMs = this.nowMs()
    ledger.load = { weight, spreadMs, requests, startedMs, delayMs: 0, refusal: undefined, admitted: false }
  }

  takeAll(): void {
    this.#noteExact()
    this.#carried = this.#standsFor - this.countdown
    this.countdown = 1
    this.#standsFor = 1
  }

  #noteExact(): void {
    this.isExact = this.#fleet.settings.simulate || this.#fleet.recording.isWatched
  }

  /** Draws the next sample, and charges an operation or lets it wait. @param work - of charging its `rows` */
  #take(taken: Taken | TakenEntity, rows: number, work: number): void {
    const { sampleEvery, exactPerSecond } = this.#fleet.settings
    const nowMs = Number(taken.micros) / 1000
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#taken = 0
      this.#noteExact()
      this.#sampledUntil = this.#parts.scheduler.steadyMs() + 1000 * (second + 1) - nowMs
    }
    this.#taken += rows
    const isSampled = !this.isExact && this.#taken >= exactPerSecond
    this.countdown = isSampled ? 1 + this.#parts.random.integer(2 * sampleEvery - 1) : 1
    this.#standsFor = this.countdown
    if (isSampled) {
      this.#standsFor += this.#carried
      this.#carried = 0
    }
    if (this.isExact || this.listeners.size > 0) {
      this.chargeWaiting()
      this.#charge(taken)
      return
    }
    this.#waiting.push(taken)
    this.#waitingWork += work
    // Not in the turn of a large commit.
    if (this.#waitingWork >= waitingMax) this.#charging.begin()
  }

  take(load: RequestLoad | undefined, entry: LedgerEntry, through: RowKey | undefined): void {
    const { table, operation, rowKey, rows, bytes } = entry
    const micros = this.#parts.scheduler.nowMicros()
    this.#take({ load, table, operation, rowKey, rows, bytes, through, standsFor: this.#standsFor, micros }, 1, 1)
  }

  /** Takes an entity that is written, as one operation with all its rows; they are made when they are charged. */
  takeEntity(load: RequestLoad | undefined, change: EntityRows, stage: Stage): void {
    const micros = this.#parts.scheduler.nowMicros()
    const taken = { load, change, stage, standsFor: this.#standsFor, micros }
    this.#take(taken, rowCountOf({ changes: [change] }, stage), workOfTaken(taken))
  }

  /** Charges a part of the rows of an entity at once, while nothing is sampled. */
  chargeRows(load: RequestLoad | undefined, rows: readonly RowChange[]): void {
    const micros = this.#parts.scheduler.nowMicros()
    const taken = { load, standsFor: 1, micros }
    for (const { key, value } of rows) this.#chargeRow(key, value, taken)
  }

  #chargeRow(rowKey: RowKey, value: Uint8Array | undefined, taken: Pick<Taken, 'load' | 'standsFor' | 'micros'>): void {
    const { load, standsFor, micros } = taken
    const table = tableOfRow(rowKey)
    const operation = value === undefined ? 'delete' : 'put'
    const bytes = rowKey.length + (value?.length ?? 0)
    // In the order of take(), so that both objects have one shape: V8 is slow with a spread here.
    this.#chargeTaken({ load, table, operation, rowKey, rows: 1, bytes, through: undefined, standsFor, micros })
  }

  /** Charges the waiting operations to the tablets, each at its time. To be called before the tablets are read. */
  chargeWaiting(): void {
    this.#charging.finish()
  }

  *#charges(): Generator<number, void> {
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting
      this.#waiting = []
      this.#waitingWork = 0
      for (const taken of waiting) {
        this.#charge(taken)
        yield workOfTaken(taken)
      }
    }
  }

  #charge(taken: Taken | TakenEntity): void {
    if ('change' in taken) this.#chargeEntity(taken)
    else this.#chargeTaken(taken)
  }

  /** All rows of an entity, or, while sampling a very large one, a part that stands for all; only these rows are made. */
  #chargeEntity(taken: TakenEntity): void {
    const { load, change, stage, standsFor, micros } = taken
    if (this.isExact || rowCountOf({ changes: [change] }, stage) <= rowsOfEntityMax) {
      for (const { key, value } of rowsOf(change, stage)) this.#chargeRow(key, value, taken)
      return
    }
    let places = 1
    const producer = new RowProducer({
      write: (key, value) => this.#chargeRow(key, value, { load, standsFor: standsFor * places, micros }),
    })
    if (stage !== 'B') producer.entity(change)
    producer.indexRows(change, 0, 1)
    const step = Math.ceil((2 * change.places) / rowsOfEntityMax)
    for (let from = 1; from < change.places; from += step) {
      places = Math.min(step, change.places - from)
      producer.indexRows(change, from, from + 1)
    }
  }

  #chargeTaken(taken: Taken): void {
    const { load, table, operation, rowKey, rows, bytes, standsFor, micros } = taken
    const { settings } = this.#fleet
    const { scale } = settings
    const nowMs = Number(micros) / 1000
    const real = (load?.weight ?? 1) * scale
    const weight = real * standsFor
    const spreadMs = real > 1 && load !== undefined ? (load.spreadMs ?? settings.slotMs) : 0
    const row = rowInTablet(rowKey)
    if (table === 'Log' && operation === 'put') this.#parts.groups.sampled(groupOfLogRow(rowKey), nowMs, standsFor)
    this.#fleet.advance(nowMs)
    const isWrite = operation !== 'get'
    const charge: Charge = {
      rowKey: row,
      reads: isWrite ? 0 : rows,
      writes: isWrite ? rows : 0,
      bytes,
      cost: rows,
      weight,
      spreadMs,
    }
    if (operation === 'scan') this.#scan(taken, nowMs, charge)
    else this.#chargeTablet(load, this.#fleet.tabletOf(table, row), nowMs, charge)
    if (this.listeners.size === 0) return
    const sample: SampleEvent = { table, operation, rowKey, rows, bytes, weight, atMicros: micros }
    for (const listener of this.listeners) listener(sample)
  }

  /**
   * Checks, in a simulation, whether a commit may write these rows now. Its reads were taken before.
   *
   * @throws RESOURCE_EXHAUSTED, UNAVAILABLE or DEADLINE_EXCEEDED: nothing was written, nothing will be
   */
  admit(context: RequestContext, rows: Iterable<{ readonly table: TableId; readonly rowKey: RowKey }>): void {
    const { load } = context.ledger
    if (load === undefined) return
    const nowMs = this.nowMs()
    this.#fleet.advance(nowMs)
    if (load.refusal === undefined) {
      // All rows, so that each tablet that refuses the commit notes it.
      for (const { table, rowKey } of rows) {
        const tablet = this.#fleet.tabletOf(table, rowKey)
        if (this.#delayAt(load, tablet, rowKey, nowMs, 1) !== undefined) continue
        this.#fleet.noteRefused(nowMs, tablet, rowKey, load.weight * this.#fleet.settings.scale, 1)
      }
    }
    this.#refuse(load)
    // Without real delays, the time of the append is only measured.
    if (!this.#fleet.settings.waits) load.delayMs += this.#fleet.settings.commitLatencyMs
    const leftMs = leftMsOf(context)
    if (load.delayMs > leftMs) {
      load.delayMs = Math.max(0, leftMs)
      throw lateError()
    }
    load.admitted = true
  }

  /** Ends a request; a promise is its delay, an error its refusal. */
  settle(context: RequestContext, load: RequestLoad): MaybePromise<void> {
    const { settings } = this.#fleet
    if (load.refusal !== undefined && !load.admitted) {
      this.#count(load, load.refusal)
      this.#refuse(load)
    }
    if (!settings.simulate || load.delayMs <= 0 || !settings.waits) return this.#count(load, undefined)
    const leftMs = leftMsOf(context)
    const isLate = !load.admitted && load.delayMs > leftMs
    const waited = this.#parts.scheduler.sleep(Math.max(0, isLate ? leftMs : load.delayMs), context.signal, true)
    return waited.then(
      () => {
        load.delayMs = 0
        this.#count(load, undefined)
        if (isLate) throw lateError()
      },
      // A write in the store is a success, even if its client stopped waiting.
      () => checkAlive(context),
    )
  }

  #scan({ load, table, rows, bytes, through }: Taken, nowMs: number, charge: Charge): void {
    const { scanRowCost } = this.#fleet.settings
    const { rowKey: from, weight, spreadMs } = charge
    this.#fleet.tabletOf(table, from)
    const tablets = this.#fleet.map.tabletsBetween(table, from, through ?? from)
    for (const [i, tablet] of tablets.entries()) {
      const start = i === 0 ? from : tablet.start
      const tombstones = through === undefined ? 0 : tablet.tombstones.between(start, through)
      // The rows of a scan over several tablets are spread evenly over them.
      const found = rows / tablets.length
      tablet.noteScan(found, tombstones)
      const reads = found + tombstones
      if (reads === 0) continue
      const cost = Math.max(1 / tablets.length, reads * scanRowCost)
      const part = {
        rowKey: start,
        reads,
        writes: 0,
        bytes: bytes / tablets.length,
        cost,
        weight,
        spreadMs,
        tombstones,
      }
      this.#chargeTablet(load, tablet, nowMs, part)
    }
  }

  #chargeTablet(load: RequestLoad | undefined, tablet: Tablet, nowMs: number, asked: Charge): void {
    const isCold = asked.reads > 0 && tablet.coldUntilMs > nowMs
    const charge = isCold ? { ...asked, cost: asked.cost * this.#fleet.settings.warmUpReadCost } : asked
    if (load === undefined || !this.#fleet.settings.simulate) {
      this.#fleet.charge(nowMs, tablet, charge)
      return
    }
    const waitMs = this.#delayAt(load, tablet, charge.rowKey, nowMs, charge.cost)
    if (waitMs === undefined && !load.admitted) {
      this.#fleet.noteRefused(nowMs, tablet, charge.rowKey, charge.weight, charge.cost)
      return
    }
    this.#fleet.charge(nowMs, tablet, { ...charge, waitMs: waitMs ?? 0 })
  }

  /** Delays a request at a tablet, or refuses it. @returns its delay there; `undefined` = refused */
  #delayAt(load: RequestLoad, tablet: Tablet, rowKey: RowKey, nowMs: number, cost: number): number | undefined {
    const server = this.#fleet.serverOf(tablet)
    const { serviceMs } = this.#fleet.settings
    if (tablet.unavailableUntilMs > nowMs) {
      load.refusal ??= {
        code: 'UNAVAILABLE',
        message: `the tablet of ${rowKeyWords(tablet.table, rowKey)} is being moved to another server; try again with backoff`,
      }
      return undefined
    }
    if (!server.hasRoom(nowMs)) {
      load.refusal ??= {
        code: 'RESOURCE_EXHAUSTED',
        message: `the server of ${rowKeyWords(tablet.table, rowKey)} has more to do than it can: ${Math.round(server.queueMs(nowMs))} ms of work wait there; try again with backoff`,
      }
      return undefined
    }
    const delayMs = server.delayMs(nowMs, cost, serviceMs)
    load.delayMs = Math.max(load.delayMs, delayMs)
    return delayMs
  }

  #refuse({ refusal }: RequestLoad): void {
    if (refusal !== undefined) throw new DatastoreError(refusal.code, refusal.message, { retry: 'backoff' })
  }

  #count(load: RequestLoad, refusal: Refusal | undefined): void {
    const { requests, weight, startedMs, delayMs } = load
    if (requests === 0) return
    const nowMs = this.nowMs()
    const count = requests * weight * this.#fleet.settings.scale
    this.latencies.add(nowMs, count, refusal === undefined ? nowMs - startedMs + delayMs : undefined)
  }
}

/** The time until the deadline of a call. */
export function leftMsOf({ clock, deadlineAt }: RequestContext): number {
  return deadlineAt === undefined ? Number.POSITIVE_INFINITY : deadlineAt - clock.steadyMs()
}

function lateError(): DatastoreError {
  return new DatastoreError(
    'DEADLINE_EXCEEDED',
    'the tablet servers of this request are busy beyond its deadline; try again with backoff',
  )
}
