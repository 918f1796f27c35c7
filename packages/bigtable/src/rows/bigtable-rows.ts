/**
 * The engine's store of wide rows, in a table of a Bigtable.
 *
 * Bigtable itself changes a row atomically and shows an acknowledged change to every later read, since all calls use one cluster.
 * A scan is no snapshot. A conditional change is sent once, and the caller reads later whether it took effect. Other calls are repeated
 * until they are acknowledged, or `timeoutMs` is over.
 */
import { DatastoreError, invalidArgument, type RowKey, type Scheduler } from '@sixtables/engine'
import type { StoreCall } from '@sixtables/engine/store'
import { bigtableLimits } from '../client/limits.ts'
import type { TableClient } from '../client/table-client.ts'
import { placeInWords, silenceRemedy, TableMissing } from '../client/table-place.ts'
import {
  type CellChange,
  checkRowKey,
  type Row,
  type RowChange,
  type RowCondition,
  type RowScan,
  type RowStore,
  rowStoreClosed,
  type Wanted,
} from '../row-store/row-store.ts'
import { Availability } from './availability.ts'
import { conditionFilter, mutationOf, rowOf, wantedFilter } from './filters.ts'
import { rowChanges } from './row-changes.ts'
import { rowReads } from './row-reads.ts'
import { serverMicros } from './server-clock.ts'

/** Longest wait of close() for calls that are running. */
const closingMs = 10_000

export class BigtableRows implements RowStore {
  readonly location: string
  readonly silenceRemedy: string
  readonly #client: TableClient
  readonly #read: RowStore['readRows']
  readonly #change: RowStore['mutateRows']
  readonly #availability: Availability
  readonly #clock: Scheduler
  readonly #release: () => void
  readonly #underWay = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined

  /** @param release - closes the connections of the client */
  constructor(client: TableClient, clock: Scheduler, release: () => void) {
    this.location = placeInWords(client.place)
    this.silenceRemedy = silenceRemedy(client.place)
    this.#client = client
    this.#clock = clock
    this.#release = release
    this.#availability = new Availability(clock, () => client.tryCalls())
    this.#read = rowReads(client, clock)
    this.#change = rowChanges(client, clock)
  }

  get failure(): DatastoreError | undefined {
    return this.#availability.failure
  }

  get isGone(): boolean {
    return this.#availability.isGone
  }

  get answeredMs(): number {
    return this.#availability.answeredMs
  }

  onFailure(listener: (failure: DatastoreError | undefined) => void): void {
    this.#availability.onFailure(listener)
  }

  readRows(keys: readonly RowKey[], wanted: Wanted): Promise<ReadonlyMap<RowKey, Row>> {
    return this.#run(() => this.#read(keys, wanted))
  }

  scanRows({ range, reverse = false, limit, wanted }: RowScan): Promise<readonly Row[]> {
    return this.#run(async () => {
      if (range.start >= range.end) return []
      const rows = await this.#client.readRows({ rows: range, filter: wantedFilter(wanted), limit, reverse })
      return rows.map(rowOf)
    })
  }

  mutateRows(rows: readonly RowChange[]): Promise<void> {
    return this.#run(() => {
      for (const { key, changes } of rows) checkChanges(key, changes)
      return this.#change(rows)
    })
  }

  mutateRowIf(key: RowKey, condition: RowCondition, changes: readonly CellChange[]): Promise<boolean> {
    return this.#run(async () => {
      checkChanges(key, changes)
      const mutations = changes.map(mutationOf)
      const wantsNone = condition.values === undefined
      const changed = wantsNone ? { ifNone: mutations } : { ifSome: mutations }
      const found = await this.#client.checkAndMutateRow(key, conditionFilter(condition), changed)
      return found !== wantsNone
    })
  }

  observeCalls(observer: (call: StoreCall) => void): void {
    this.#client.observeCalls(observer)
  }

  clockMicros(): Promise<bigint> {
    return this.#run(() => serverMicros(this.#client))
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#availability.close()
    await Promise.race([Promise.allSettled(this.#underWay), this.#clock.sleep(closingMs)])
    this.#release()
  }

  async #run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw rowStoreClosed(this.location)
    this.#availability.checkThere()
    const answer = call()
    this.#underWay.add(answer)
    try {
      const found = await answer
      this.#availability.answered()
      return found
    } catch (error) {
      if (error instanceof DatastoreError) await this.#availability.note(error)
      if (error instanceof TableMissing) this.#availability.checkThere()
      throw error
    } finally {
      this.#underWay.delete(answer)
    }
  }
}

/** @throws INVALID_ARGUMENT, before sending, for a change above a limit of a real Bigtable */
function checkChanges(key: RowKey, changes: readonly CellChange[]): void {
  if (key === '') throw new DatastoreError('INVALID_ARGUMENT', 'a row of a Bigtable has a key of at least one byte')
  checkRowKey(key)
  if (changes.length > bigtableLimits.changesPerCall) {
    throw invalidArgument(
      `${changes.length} changes of a row are needed at once, and Bigtable takes at most ${bigtableLimits.changesPerCall}`,
    )
  }
  for (const change of changes) {
    if (change.type !== 'set' || change.value.length <= bigtableLimits.cellBytes) continue
    throw invalidArgument(
      `a cell of ${change.value.length} bytes is needed, and Bigtable takes at most ${bigtableLimits.cellBytes}`,
    )
  }
}
