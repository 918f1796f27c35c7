/** The rows and groups that a commit changes, for the checks against open transactions. */
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { RowProducer } from '../tables/entity-rows.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import { prefixRange } from '../tables/rows.ts'
import type { PendingRecord } from './pending.ts'

export interface Footprint {
  /** Rows of Entities to write or delete. */
  readonly entityRows: readonly RowKey[]
  /**
   * Index rows to write or delete; only searches by key range need them.
   *
   * @param isWanted - whether rows of a range are needed: of a table, of a kind or a property; default: all are
   */
  indexRows(isWanted?: (range: KeyRange) => boolean): Iterable<RowKey>
  readonly groups: readonly GroupCode[]
  /** Whole ranges to delete, for a reset. */
  readonly ranges?: readonly KeyRange[]
}

export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

/** The footprint of log records. Most commits meet no transaction, and their lists are never made. */
export class RecordsFootprint implements Footprint {
  readonly #records: readonly Pick<PendingRecord, 'group' | 'changes'>[]
  #entityRows: readonly RowKey[] | undefined
  #groups: readonly GroupCode[] | undefined

  constructor(records: readonly Pick<PendingRecord, 'group' | 'changes'>[]) {
    this.#records = records
  }

  get entityRows(): readonly RowKey[] {
    this.#entityRows ??= this.#records.flatMap(({ changes }) => changes.map(({ row }) => row))
    return this.#entityRows
  }

  get groups(): readonly GroupCode[] {
    this.#groups ??= this.#records.map(({ group }) => group)
    return this.#groups
  }

  /** Made entity by entity while the caller asks for more: those of a large commit are a million. */
  *indexRows(isWanted: (range: KeyRange) => boolean = () => true): Generator<RowKey> {
    const rows: RowKey[] = []
    const producer = new RowProducer({
      wants: (prefix) => isWanted(prefixRange(prefix)),
      write: (key) => rows.push(key),
    })
    for (const { changes } of this.#records) {
      for (const change of changes) {
        producer.indexRows(change)
        yield* rows
        rows.length = 0
      }
    }
  }
}
