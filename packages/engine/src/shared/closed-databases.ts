/**
 * Databases in which ranges of rows are being deleted: until that is over no gateway gives a stamp, or reads strongly, there.
 *
 *   M <database> "deleting" → JSON of the ranges
 *
 *   the row is stored ─▶ epoch raised at b ─▶ all below b resolved ─▶ rows deleted at b ─▶ the row is deleted
 *
 * A gateway that meets the new epoch reads the metadata anew, finds the row, and waits until it is gone. It takes the deletion over when
 * the row is still there ten seconds later: each step may be done twice, by two gateways at once.
 *
 * CD1  Commits and strong reads see the state before b, or nothing of what was deleted.           test/property/gateways.test.ts
 */
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { topicRowKey } from '../tables/metadata-rows.ts'
import type { ClockRow } from './clock-row.ts'
import type { Resolver } from './resolve.ts'
import { deleteAt } from './shared-delete.ts'
import type { SharedStore } from './shared-store.ts'

const lookEveryMs = 50
const abandonedAfterMs = 10_000

/** The parts of a database that a deletion needs. */
interface ClosedDatabase {
  readonly clock: ClockRow
  readonly resolver: Resolver
}

export class ClosedDatabases {
  readonly #store: SharedStore
  /** Databases in which this process deletes, or waits for another one. */
  readonly #closed = new Map<string, Promise<void>>()

  constructor(store: SharedStore) {
    this.#store = store
  }

  /** Deletes ranges of rows in a database, at one moment. */
  async delete(database: ClosedDatabase, ranges: readonly KeyRange[]): Promise<void> {
    const { database: code } = database.clock
    const value = Buffer.from(JSON.stringify(ranges), 'latin1')
    for (;;) {
      await this.look(database)
      await this.#closed.get(code)
      if (await this.#store.kv.mutateIf({ key: rowKey(code), value }, undefined)) break
    }
    await this.#whileClosed(database, () => this.#finish(database, ranges))
  }

  /** Looks whether rows are being deleted, and closes the database if so. */
  async look(database: ClosedDatabase): Promise<void> {
    const { database: code } = database.clock
    if (this.#closed.has(code)) return
    const value = await this.#store.kv.get(rowKey(code))
    if (value === undefined || this.#closed.has(code)) return
    const waiting = this.#whileClosed(database, () => this.#wait(database))
    this.#store.inBackground(() => waiting, true)
  }

  async #whileClosed(database: ClosedDatabase, work: () => Promise<void>): Promise<void> {
    const { clock } = database
    const open = clock.close()
    const running = this.#store.persistently(work)
    this.#closed.set(clock.database, running)
    try {
      await running
    } finally {
      if (this.#closed.get(clock.database) === running) this.#closed.delete(clock.database)
      open()
    }
  }

  /** Waits until the row is gone, or takes the deletion over. */
  async #wait(database: ClosedDatabase): Promise<void> {
    const startedMs = this.#store.scheduler.steadyMs()
    for (;;) {
      const value = await this.#store.kv.get(rowKey(database.clock.database))
      if (value === undefined) return
      if (this.#store.scheduler.steadyMs() - startedMs > abandonedAfterMs) {
        return await this.#finish(database, JSON.parse(Buffer.from(value).toString('latin1')) as readonly KeyRange[])
      }
      await this.#store.sleep(lookEveryMs)
    }
  }

  async #finish({ clock, resolver }: ClosedDatabase, ranges: readonly KeyRange[]): Promise<void> {
    const stamp = await clock.raiseEpoch()
    // Another gateway took it over, and finished it: nothing keeps the others from committing any more.
    if ((await this.#store.kv.get(rowKey(clock.database))) === undefined) return
    const state = await clock.read()
    await resolver.resolveAll(state, state.listed, stamp)
    for (const range of ranges) await deleteAt(this.#store, range, stamp)
    await this.#store.kv.mutate({ key: rowKey(clock.database), value: undefined })
  }
}

function rowKey(code: string): RowKey {
  return topicRowKey(code, 'deleting')
}
