/**
 * A store around another one, for tests: `read`, `write` and `rowsOf` decide when a call reaches the store, and what it answers.
 *
 * A scan reads the store at its first `next` (a scan may read any moment after its opening), so that opening it is no call.
 */
import type { MaybePromise } from '../maybe-promise.ts'
import type {
  KeyRange,
  Kv,
  KvReader,
  KvRow,
  KvScan,
  KvSnapshot,
  KvWrite,
  RowKey,
  ScanOptions,
  Writes,
} from '../storage/kv.ts'

export abstract class WrappedKv implements Kv {
  /** The wrapped store, for calls past the wrapper. */
  readonly inner: Kv
  readonly #name: string

  constructor(inner: Kv, name: string) {
    this.inner = inner
    this.#name = name
  }

  get location(): string {
    return `${this.inner.location}, ${this.#name}`
  }

  get(key: RowKey): MaybePromise<Uint8Array | undefined> {
    return this.read(() => this.inner.get(key))
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    return this.#scanOf(this.inner, range, options)
  }

  mutate(write: KvWrite): MaybePromise<void> {
    return this.write(() => this.inner.mutate(write))
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean> {
    return this.write(() => this.inner.mutateIf(write, expected))
  }

  batch(writes: Writes): MaybePromise<void> {
    return this.write(() => this.inner.batch(writes))
  }

  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): MaybePromise<void> {
    return this.write(() => this.inner.deleteRanges(ranges, rows))
  }

  clear(rows?: readonly KvRow[]): MaybePromise<void> {
    return this.write(() => this.inner.clear(rows))
  }

  snapshot(): KvSnapshot {
    const snapshot = this.inner.snapshot()
    return {
      get: (key) => this.read(() => snapshot.get(key)),
      scan: (range, options) => this.#scanOf(snapshot, range, options),
      close: () => snapshot.close(),
    }
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  protected abstract read<T>(call: () => MaybePromise<T>): MaybePromise<T>
  protected abstract write<T>(call: () => MaybePromise<T>): MaybePromise<T>

  /** A call for the rows of a scan. */
  protected rowsOf<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    return this.read(call)
  }

  #scanOf(reader: KvReader, range: KeyRange, options: ScanOptions | undefined): KvScan {
    let scan: KvScan | undefined
    let sought: RowKey | undefined
    let closed = false
    return {
      next: (count) =>
        this.rowsOf((): MaybePromise<readonly KvRow[]> => {
          if (closed) return []
          scan ??= reader.scan(range, options)
          if (sought !== undefined) scan.seek(sought)
          sought = undefined
          return scan.next(count)
        }),
      seek(key) {
        sought = key
      },
      close() {
        closed = true
        scan?.close()
      },
    }
  }
}
