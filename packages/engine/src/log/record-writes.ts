/** The rows that applying log records writes, handed over while the store takes them. */
import type { KvWrite, WriteSink, WriteSource } from '../storage/kv.ts'
import { RowProducer, type RowSink } from '../tables/entity-rows.ts'
import type { PendingRecord } from './pending.ts'

/** Which rows of a record: those of milestone A, the index rows of B, or both. */
export type Stage = 'A' | 'B' | 'AB'

/** How many rows applying a record writes or deletes. */
export function rowCountOf({ changes }: Pick<PendingRecord, 'changes'>, stage: Stage): number {
  let count = stage === 'B' ? 0 : changes.length
  if (stage !== 'A') for (const change of changes) count += change.count
  return count
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
    for (const { key, value } of this.#first) sink.write(key, value, value === undefined)
    const producer = new RowProducer(sink)
    for (const { changes } of this.#records) {
      for (const change of changes) {
        if (this.#stage !== 'B') producer.entity(change)
        if (this.#stage !== 'A') producer.indexRows(change)
      }
    }
  }
}
