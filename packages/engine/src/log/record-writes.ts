/** The rows that applying log records writes, handed over while the store takes them. */
import type { RowTally } from '../request-trace.ts'
import { type KvWrite, type WriteSink, type WriteSource, workOf } from '../storage/kv.ts'
import { type EntityRows, RowProducer, type RowSink } from '../tables/entity-rows.ts'
import type { PendingRecord } from './pending.ts'

/** Which rows of a record: those of milestone A, the index rows of B, or both. */
export type Stage = 'A' | 'B' | 'AB'

/** The milestones of a stage, in their order. */
export const milestonesOf: Readonly<Record<Stage, readonly ('A' | 'B')[]>> = { A: ['A'], B: ['B'], AB: ['A', 'B'] }

/** How many rows applying a record writes or deletes. */
export function rowCountOf({ changes }: Pick<PendingRecord, 'changes'>, stage: Stage): number {
  let count = stage === 'B' ? 0 : changes.length
  if (stage !== 'A') for (const change of changes) count += change.count
  return count
}

/** How many rows records write and delete in each of the six tables. */
export function tallyOf(records: readonly Pick<PendingRecord, 'changes'>[]): RowTally {
  const tally: RowTally = {}
  for (const { changes } of records) {
    for (const change of changes) {
      change.tally('A', tally)
      change.tally('B', tally)
    }
  }
  return tally
}

/** Some writes, and then the rows of records. */
export class RecordWrites implements WriteSource {
  readonly #first: readonly KvWrite[]
  readonly #records: readonly Pick<PendingRecord, 'changes'>[]
  readonly #stage: Stage

  constructor(first: readonly KvWrite[], records: readonly Pick<PendingRecord, 'changes'>[], stage: Stage) {
    this.#first = first
    this.#records = records
    this.#stage = stage
  }

  get count(): number {
    let count = this.#first.length
    for (const record of this.#records) count += rowCountOf(record, this.#stage)
    return count
  }

  writeTo(sink: WriteSink | RowSink): void {
    for (const write of this.#first) writeOne(sink, write)
    const producer = new RowProducer(sink)
    for (const { changes } of this.#records) for (const change of changes) this.#write(producer, change)
  }

  /** An entity is one step, with all its rows. */
  *stepsTo(sink: WriteSink | RowSink): Iterable<number> {
    for (const write of this.#first) {
      writeOne(sink, write)
      yield workOf(1, write.value)
    }
    const producer = new RowProducer(sink)
    for (const { changes } of this.#records) {
      for (const change of changes) {
        this.#write(producer, change)
        yield workOf(1 + change.count, change.after)
      }
    }
  }

  #write(producer: RowProducer, change: EntityRows): void {
    if (this.#stage !== 'B') producer.entity(change)
    if (this.#stage !== 'A') producer.indexRows(change)
  }
}

function writeOne(sink: WriteSink | RowSink, { key, value }: KvWrite): void {
  sink.write(key, value, value === undefined)
}
