/**
 * A store in memory that can hold writes back, like writes to a disk that are in progress: no reader sees them.
 *
 *   hold()     later writes wait; with `hold({ scans: true })` the rows of scans wait too
 *   land()     all waiting writes take effect, in order, and later ones do not wait
 *   lose()     all waiting writes fail, and change nothing
 */
import { DatastoreError } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, Kv, KvReader, KvRow, KvScan, KvSnapshot, KvWrite, RowKey, ScanOptions } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'

interface Waiting {
  land(): void
  lose(error: unknown): void
}

export class HeldKv implements Kv {
  readonly location = 'memory, held'
  readonly #inner = new MemoryKv()
  #holds = false
  #holdsScans = false
  #waiting: Waiting[] = []

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#waiting.length
  }

  hold(options: { readonly scans?: boolean } = {}): void {
    this.#holds = true
    this.#holdsScans = options.scans === true
  }

  land(): void {
    this.#holds = false
    this.#holdsScans = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.land()
  }

  lose(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.lose(new DatastoreError('UNAVAILABLE', 'The write was lost, by wish of this test.'))
  }

  get(key: RowKey): MaybePromise<Uint8Array | undefined> {
    return this.#inner.get(key)
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    return this.#scanOf(this.#inner, range, options)
  }

  mutate(write: KvWrite): MaybePromise<void> {
    return this.#held(() => this.#inner.mutate(write))
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean> {
    return this.#held(() => this.#inner.mutateIf(write, expected))
  }

  batch(writes: readonly KvWrite[]): MaybePromise<void> {
    return this.#held(() => this.#inner.batch(writes))
  }

  clear(rows?: readonly KvRow[]): MaybePromise<void> {
    return this.#inner.clear(rows)
  }

  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): MaybePromise<void> {
    return this.#inner.deleteRanges(ranges, rows)
  }

  snapshot(): KvSnapshot {
    const snapshot = this.#inner.snapshot()
    return {
      get: (key) => snapshot.get(key),
      scan: (range, options) => this.#scanOf(snapshot, range, options),
      close: () => snapshot.close(),
    }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #scanOf(reader: KvReader, range: KeyRange, options: ScanOptions | undefined): KvScan {
    const scan = reader.scan(range, options)
    return {
      next: (count) => (this.#holdsScans ? this.#held(() => scan.next(count)) : scan.next(count)),
      seek: (key) => scan.seek(key),
      close: () => scan.close(),
    }
  }

  #held<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.#holds) return call()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ land: () => resolve(call()), lose: reject })
    })
  }
}
