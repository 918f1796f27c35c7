/**
 * Charges of commits to the tablets: what a commit writes in the log and, when it is applied, for each entity, and the rows that
 * are added and deleted.
 *
 *   put ToDo:1 {owner: "ada"}   the ledger of the request charges the log row; here: its row in Entities, its row of the kind
 *                               and its rows of `owner`, as one operation for the meter, which takes all of them or none
 *
 * Rows of applying are never charged to the request; they have the weight of its commit.
 *
 * A commit of 20,000 entities is charged in slices, and while rows are counted so is one of an entity with 20,000 values, and
 * later commits wait for their turns. A report in the meantime has a part of it: its client has no answer yet ({@link CommitCharges.counted}).
 * In a simulation, commits are charged at once: charges delay and refuse the requests after them.
 */
import { CountingLedger } from '../../context.ts'
import type { ApplyEvent } from '../../log/apply.ts'
import type { CommitEvent } from '../../log/commit-log.ts'
import { rowCountOf, rowsOf, type Stage } from '../../log/record-writes.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { WorkInOrder } from '../../slices.ts'
import { type EntityRows, type RowChange, RowProducer } from '../../tables/entity-rows.ts'
import type { Metering, MeteringParts } from './metering.ts'
import { bytesOf, type RowCounts } from './row-counts.ts'

const rowsOfPart = 256
/** The most log records that are charged in the turn of their commit. */
export const recordsAtOnce = 256

interface CommitChargesParts extends Pick<MeteringParts, 'fleet' | 'groups' | 'scheduler'> {
  readonly metering: Metering
  readonly rows: RowCounts
}

export class CommitCharges {
  readonly #parts: CommitChargesParts
  readonly #ledger = new CountingLedger()
  readonly #work: WorkInOrder
  #resets = 0

  constructor(parts: CommitChargesParts) {
    this.#parts = parts
    this.#ledger.meter = parts.metering
    this.#work = new WorkInOrder(parts.scheduler)
  }

  get rowsApplied(): number {
    return this.#ledger.rowsWritten
  }

  /** Ends the charges of commits that wait: their rows are gone. */
  reset(): void {
    this.#resets++
  }

  committed(event: CommitEvent): MaybePromise<void> {
    return this.#run(event, this.#commitSteps(event, this.#parts.rows.walk))
  }

  applied(event: ApplyEvent): MaybePromise<void> {
    return this.#run(event, this.#applySteps(event, this.#parts.rows.walk))
  }

  /** Resolves when all commits until now are charged and counted. */
  counted(): MaybePromise<void> {
    return this.#work.done()
  }

  #run({ records }: ApplyEvent | CommitEvent, steps: Generator<number, void>): MaybePromise<void> {
    const { rows, fleet } = this.#parts
    const isSmall = records.length <= recordsAtOnce
    if (fleet.settings.simulate || (isSmall && !rows.isWanted)) {
      for (const _ of steps);
      return
    }
    return this.#work.run(this.#kept(steps, this.#resets))
  }

  /** The steps of a commit, until a reset deletes what it wrote. @param resets - until now: the steps may begin later */
  *#kept(steps: Generator<number, void>, resets: number): Generator<number, void> {
    for (const work of steps) {
      if (this.#resets !== resets) return
      yield work
    }
  }

  /** @param walk - the latest one when the rows were written, which may be long before these steps begin */
  *#commitSteps({ records, ledger, trimmed, trimmedBytes }: CommitEvent, walk: number): Generator<number, void> {
    const { groups, metering, rows } = this.#parts
    for (const { logRow, logBytes } of records) {
      ledger.charge('Log', 'put', logRow, 1, logBytes)
      yield 1
    }
    if (groups.troubled.size > 0) {
      const nowMs = metering.nowMs()
      for (const { group, isUncounted } of records) if (!isUncounted) groups.committed(group, nowMs)
    }
    if (!rows.isWanted) return
    for (const { logRow, logBytes, load } of records) {
      rows.note(walk, logRow, 1, logBytes, load?.weight ?? 1)
      yield 1
    }
    for (const { key } of trimmed) {
      rows.note(walk, key, -1, -trimmedBytes / trimmed.length, 1)
      yield 1
    }
  }

  *#applySteps({ records, reached, marker }: ApplyEvent, walk: number): Generator<number, void> {
    const { metering, rows } = this.#parts
    const ledger = this.#ledger
    for (const record of records) {
      const { changes, load, isUncounted } = record
      yield 1
      if (!isUncounted) {
        ledger.rowsWritten += rowCountOf(record, reached)
        if (metering.countdown > changes.length) metering.countdown -= changes.length
        else {
          for (const change of changes) {
            if (--metering.countdown > 0) continue
            if (rows.isWanted && metering.isExact && change.count > rowsOfPart) {
              // As take() leaves it: the next operation is taken too.
              metering.countdown = 1
              for (const part of partsOf(change, reached)) {
                metering.chargeRows(load, part)
                yield part.length
              }
              continue
            }
            metering.takeEntity(load, change, reached)
            if (rows.isWanted) yield 1 + change.count
          }
        }
        if (marker !== undefined) {
          ledger.load = load
          ledger.charge('Log', 'delete', marker, 1, marker.length)
        }
      }
      // After the charges, which may split a tablet: its halves then count the rows.
      if (!rows.isWanted) continue
      const weight = load?.weight ?? 1
      for (const change of changes) {
        if (reached !== 'B') this.#noteEntity(walk, change, weight)
        yield 1
        if (reached === 'A') continue
        for (const part of partsOf(change, 'B')) {
          for (const { key, value, wasThere } of part) {
            if (value === undefined) rows.note(walk, key, -1, -key.length, weight)
            else if (!wasThere) rows.note(walk, key, 1, key.length, weight)
          }
          yield part.length
        }
      }
    }
  }

  #noteEntity(walk: number, { row, before, after }: EntityRows, weight: number): void {
    if (before === after) return
    const sizeOf = (cell: Uint8Array | undefined): number =>
      cell === undefined ? 0 : bytesOf('Entities', row, cell.length)
    const come = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    this.#parts.rows.note(walk, row, come, sizeOf(after) - sizeOf(before), weight)
  }
}

/** The rows of a change at a stage. Those of a large entity come in parts, which are made when they are due. */
function partsOf(change: EntityRows, stage: Stage): Iterable<readonly RowChange[]> {
  return change.count <= rowsOfPart ? [rowsOf(change, stage)] : madeParts(change, stage)
}

function* madeParts(change: EntityRows, stage: Stage): Iterable<readonly RowChange[]> {
  if (stage !== 'B') yield rowsOf(change, 'A')
  if (stage === 'A') return
  let part: RowChange[] = []
  const producer = new RowProducer({ write: (key, value, wasThere) => part.push({ key, value, wasThere }) })
  for (let from = 0; from < change.places; from += rowsOfPart / 2) {
    part = []
    producer.indexRows(change, from, from + rowsOfPart / 2)
    yield part
  }
}
