/**
 * The versions of a LevelDB store: one for each acknowledged batch, counted from 0 at each opening. They are not commitVersions.
 *
 *   version n         batch submitted            acknowledged: version n + 1
 *   ──────────────────┬──────────────────────────┬─────────────────────────
 *   reads: the store  │ reads: snapshot of n     │ reads: the store; scans opened in n: still its snapshot
 *
 * LevelDB shows a batch to readers before its promise settles here, and with `sync` the machine may still lose it. Readers must see
 * only acknowledged rows, so a snapshot is taken just before each batch is submitted (2 µs), and readers use it until the batch is
 * acknowledged. A version knows the areas of its rows (areas.ts). Its holder reads the same rows until it releases the version.
 */
import type { Level } from 'level'
import type { Areas } from './areas.ts'
import type { CacheView, RowCache } from './row-cache.ts'

export type LevelDatabase = Level<Uint8Array, Uint8Array>

/**
 * How to read a row in a past version. With explicit encodings LevelDB's wrapper does not copy the options in each call.
 */
export interface SnapshotRead {
  readonly snapshot: ReturnType<LevelDatabase['snapshot']>
  readonly keyEncoding: 'view'
  readonly valueEncoding: 'view'
}

export class StoreVersion {
  /** The number of acknowledged batches before it. */
  readonly sequence: number
  readonly areas: Areas
  /** Undefined while the store itself is in this version. */
  snapshot: SnapshotRead | undefined
  /** View of the row cache at the end of this version; undefined while it is the newest one. */
  cached: CacheView | undefined
  #cache: RowCache | undefined
  #holders = 0
  #past = false

  constructor(sequence: number, areas: Areas) {
    this.sequence = sequence
    this.areas = areas
  }

  /** Whether there is a later version. */
  get past(): boolean {
    return this.#past
  }

  hold(): void {
    this.#holders++
  }

  release(): void {
    this.#holders--
    this.#closeIfUnused()
  }

  /** Must be called before the store changes. */
  freeze(level: LevelDatabase): void {
    this.snapshot ??= { snapshot: level.snapshot(), keyEncoding: 'view', valueEncoding: 'view' }
  }

  /** Ends the version: without holders everything is released, otherwise the row cache is kept as it is now. */
  pass(cache: RowCache | undefined): void {
    this.#past = true
    if (this.#holders > 0) {
      this.#cache = cache
      this.cached = cache?.view()
    }
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (!this.#past || this.#holders > 0) return
    // A snapshot is released at once and cannot fail; only its report comes by promise.
    this.snapshot?.snapshot.close().catch(() => {})
    this.snapshot = undefined
    if (this.cached !== undefined) this.#cache?.release(this.cached)
    this.cached = undefined
  }
}
