/**
 * Time to live: a background sweep deletes entities whose expiry time has passed. A policy names a kind and a property. With
 * Session and `expires`, Session:1 with expires=10:00 is deleted by the first sweep after 10:00, and can be read until then,
 * as in production.
 *
 * A sweep walks over the entities of the kind in every namespace (kind-walk.ts), in slices, until the engine closes. Each
 * delete is a commit that reads the property again: an entity whose expiry was moved stays. Entities that stay locked past
 * the lock timeout, or whose group takes no more commits, are left for the next sweep. An overloaded store ends the sweep.
 *
 * Known: TTL policies of Firestore read one property of a kind, which needs no index; production deletes within about a day.
 * Ours: the interval, on the injected clock.
 */
import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import type { TtlPolicy } from '../database/settings.ts'
import type { TransactionVerbs } from '../database/transaction-verbs.ts'
import { decodeProperties } from '../encoding/entity-codec.ts'
import { DatastoreError, isGroupFull } from '../errors.ts'
import { Superseded } from '../log/commit-input.ts'
import { andThen } from '../maybe-promise.ts'
import { giveWay } from '../slices.ts'
import type { RowKey, RowKv } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import { entityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { codesOfEntityRow } from '../tables/entity-rows.ts'
import { walkKind } from '../tables/kind-walk.ts'
import type { TransactionDatabase } from '../transactions/transactions.ts'

interface TtlDatabase extends TransactionDatabase {
  readonly ttlPolicies: readonly TtlPolicy[]
}

export interface TtlParts {
  readonly kv: RowKv
  readonly scheduler: Scheduler
  readonly transactions: TransactionVerbs
  /** Contexts for the walk and for each commit. */
  context(signal: AbortSignal): RequestContext
  databases(): readonly TtlDatabase[]
  /** Runs a due sweep, if it is the turn of this process. */
  inTurn(sweep: () => Promise<unknown>): Promise<void>
  onFailure(error: unknown): void
  readonly switchedOff?: SwitchedOff | undefined
}

/** Ours: short enough to watch, long enough to cost nothing. */
export const sweepIntervalMs = 60_000
const rowsPerStep = 256
/** The cost of a delete, in rows of a walk. */
const workOfDelete = 32

export class TtlSweeper {
  readonly #parts: TtlParts
  readonly #stop = new AbortController()

  constructor(parts: TtlParts) {
    this.#parts = parts
  }

  /** Sweeps every interval until stopped. */
  start(): void {
    const run = async (): Promise<void> => {
      for (;;) {
        await this.#parts.scheduler.sleep(sweepIntervalMs, this.#stop.signal)
        await this.#parts.inTurn(() => this.sweep())
      }
    }
    run().catch((error) => {
      if (!this.#stop.signal.aborted) this.#parts.onFailure(error)
    })
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Deletes expired entities. @returns the number of deleted entities */
  async sweep(): Promise<number> {
    let deleted = 0
    for (const database of this.#parts.databases()) {
      if (database.ttlPolicies.length > 0) deleted += await this.#sweepDatabase(database)
    }
    return deleted
  }

  async #sweepDatabase(database: TtlDatabase): Promise<number> {
    const { kv } = this.#parts
    const context = this.#parts.context(this.#stop.signal)
    const properties = new Map(database.ttlPolicies.map(({ kind, property }) => [kind, property]))
    let deleted = 0
    for (const [kind, property] of properties) {
      await walkKind(kv, database.code, kind, rowsPerStep, async (paths, partition) => {
        const rows = paths.map((path) => entityRowKey(partition, path))
        const cells = await (kv.getAll?.(rows) ?? Promise.all(rows.map((row) => kv.get(row))))
        for (const [i, row] of rows.entries()) {
          const cell = cells[i]
          const isDue = cell !== undefined && this.#isExpired(cell, property)
          if (isDue && (await this.#delete(database, row, property))) deleted++
          const way = giveWay(context, isDue ? workOfDelete : 1)
          if (way !== undefined) await way
        }
      })
    }
    return deleted
  }

  #isExpired(cell: Uint8Array, property: string): boolean {
    const value = decodeProperties(propertiesOfImage(cell)).get(property)
    return value?.type === 'timestamp' && value.micros <= this.#parts.scheduler.nowMicros()
  }

  async #delete(database: TtlDatabase, row: RowKey, property: string): Promise<boolean> {
    const { transactions } = this.#parts
    const codes = codesOfEntityRow(row)
    try {
      const { result } = await transactions.commit(database, undefined, {
        context: this.#parts.context(this.#stop.signal),
        database,
        transaction: new Uint8Array(0),
        evaluate: (read) =>
          andThen(read(codes, row), (before) => {
            const isLookedAt = !this.#parts.switchedOff?.has('expired-check')
            const expired = before !== undefined && (!isLookedAt || this.#isExpired(before, property))
            return { states: expired ? [{ codes, row, before, after: undefined }] : [], result: expired }
          }),
      })
      return result
    } catch (error) {
      // A reset came between: the next sweep finds what its database has then.
      if (error instanceof Superseded) return false
      const isLeft = error instanceof DatastoreError && (error.code === 'ABORTED' || isGroupFull(error))
      if (isLeft) return false
      throw error
    }
  }
}
