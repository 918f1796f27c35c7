/**
 * Time to live: a background sweep deletes entities whose expiry time has passed. A policy names a kind and a property. With
 * Session and `expires`, Session:1 with expires=10:00 is deleted by the first sweep after 10:00, and can be read until then,
 * as in production.
 *
 * A sweep walks over the entities of the kind in every namespace (kind-walk.ts), in slices, until the engine closes. Each
 * delete is a commit that expects the version of the walk: an entity that was written since stays, at least until the next sweep. Entities that stay locked past
 * the lock timeout, or whose group takes no more commits, are left for the next sweep. An overloaded store ends the sweep.
 *
 * Known: TTL policies of Firestore read one property of a kind, which needs no index; production deletes within about a day.
 * Ours: the interval, on the injected clock.
 */
import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import { prepareMutation } from '../database/prepare-commit.ts'
import type { TtlPolicy } from '../database/settings.ts'
import type { StoreCommits } from '../database/store-verbs.ts'
import { decodeProperty } from '../encoding/entity-codec.ts'
import { DatastoreError, isGroupFull } from '../errors.ts'
import { Superseded } from '../log/log-database.ts'
import type { DatabaseName } from '../model/key.ts'
import { giveWay } from '../slices.ts'
import type { RowKey, RowKv } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import { decodeImage, entityRowKey, parseEntityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { walkKind } from '../tables/kind-walk.ts'
import type { TransactionDatabase } from '../transactions/transaction.ts'

interface TtlDatabase extends TransactionDatabase, DatabaseName {
  readonly ttlPolicies: readonly TtlPolicy[]
}

export interface TtlParts {
  readonly kv: RowKv
  readonly scheduler: Scheduler
  readonly commits: StoreCommits
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

  async sweep(): Promise<number> {
    let deleted = 0
    for (const database of this.#parts.databases()) {
      if (database.ttlPolicies.length > 0) deleted += await this.#sweepDatabase(database)
    }
    return deleted
  }

  async #sweepDatabase(database: TtlDatabase): Promise<number> {
    const { kv, scheduler } = this.#parts
    const context = this.#parts.context(this.#stop.signal)
    const properties = new Map(database.ttlPolicies.map(({ kind, property }) => [kind, property]))
    let deleted = 0
    for (const [kind, property] of properties) {
      await walkKind(kv, database.code, kind, rowsPerStep, async (paths, partition) => {
        const rows = paths.map((path) => entityRowKey(partition, path))
        const cells = await (kv.getAll?.(rows) ?? Promise.all(rows.map((row) => kv.get(row))))
        for (const [i, row] of rows.entries()) {
          const cell = cells[i]
          const value = cell === undefined ? undefined : decodeProperty(propertiesOfImage(cell), property)
          const isDue = value?.type === 'timestamp' && value.micros <= scheduler.nowMicros()
          if (isDue && cell !== undefined && (await this.#delete(database, row, cell))) deleted++
          const way = giveWay(context, isDue ? workOfDelete : 1)
          if (way !== undefined) await way
        }
      })
    }
    return deleted
  }

  /** @param cell - the expired state */
  async #delete(database: TtlDatabase, row: RowKey, cell: Uint8Array): Promise<boolean> {
    const conflict = { baseVersion: decodeImage(cell).version }
    const isChecked = !this.#parts.switchedOff?.has('expired-check')
    const asked = { operation: 'delete', key: parseEntityRowKey(row), ...(isChecked ? { conflict } : {}) } as const
    const context = this.#parts.context(this.#stop.signal)
    const { indexOptions } = database
    try {
      const { outcomes } = await this.#parts.commits.commit(
        {
          context,
          database,
          transaction: new Uint8Array(0),
          mutations: [prepareMutation(asked, database, indexOptions)],
          rules: { context, atomic: true, pairs: 'refused', indexOptions, nextKey: (key) => key },
        },
        undefined,
      )
      return outcomes[0]?.conflictDetected === false
    } catch (error) {
      // A reset came between: the next sweep finds what its database has then.
      if (error instanceof Superseded) return false
      // With INVALID_ARGUMENT, a restored snapshot has an older version.
      const isLeft = error instanceof DatastoreError && (leftCodes.has(error.code) || isGroupFull(error))
      if (isLeft) return false
      throw error
    }
  }
}

const leftCodes: ReadonlySet<string> = new Set(['ABORTED', 'INVALID_ARGUMENT'])
