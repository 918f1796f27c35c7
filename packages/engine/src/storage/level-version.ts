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
import { bytesOf } from '../encoding/bytes.ts'
import type { Areas } from './areas.ts'
import type { KeyRange } from './kv.ts'

export type LevelDatabase = Level<Uint8Array, Uint8Array>

export class StoreVersion {
  /** The number of acknowledged batches before it. */
  readonly sequence: number
  readonly areas: Areas
  /**
   * The options of a read in it; `undefined` while the store itself is in this version. With explicit encodings LevelDB's wrapper
   * does not copy the options in each call.
   */
  snapshot: { snapshot: ReturnType<LevelDatabase['snapshot']>; keyEncoding: 'view'; valueEncoding: 'view' } | undefined
  /** Whether there is a later version. */
  past = false
  /** The store holds its newest version. */
  #holders = 1

  constructor(sequence: number, areas: Areas) {
    this.sequence = sequence
    this.areas = areas
  }

  hold(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders > 0) return
    // A snapshot is released at once and cannot fail; only its report comes by promise.
    this.snapshot?.snapshot.close().catch(() => {})
    this.snapshot = undefined
  }

  /** Must be called before the store changes. */
  freeze(level: LevelDatabase): void {
    this.snapshot ??= { snapshot: level.snapshot(), keyEncoding: 'view', valueEncoding: 'view' }
  }

  pass(): void {
    this.past = true
    this.release()
  }
}

/** LevelDB's options for a range of its keys that are read once. */
export function inRange({ start, end }: KeyRange): { gte: Uint8Array; lt: Uint8Array; fillCache: false } {
  return { gte: bytesOf(start), lt: bytesOf(end), fillCache: false }
}

/** LevelDB's keys in a range, a thousand per turn, of which each takes 3 to 6 ms. */
export async function* keysIn(level: LevelDatabase, range: KeyRange, limit = -1): AsyncGenerator<Uint8Array[]> {
  const keys = level.keys({ ...inRange(range), limit })
  try {
    for (let found = await keys.nextv(1000); found.length > 0; found = await keys.nextv(1000)) yield found
  } finally {
    await keys.close()
  }
}
