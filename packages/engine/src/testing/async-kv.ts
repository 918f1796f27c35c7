/**
 * A store that answers everything by promise and has neither batch nor snapshot: the stand-in for a storage across the
 * network, such as a Bigtable. What passes on it rests on get, scan, mutate and mutateIf alone.
 *
 * A call reaches the wrapped store one hop after it was made, and its answer comes one hop later, so that calls of others
 * run in between. A scan sees the store as of its first `next` (kv/K4 allows any moment from its opening on).
 */
import { InvariantError } from '../invariant.ts'
import type {
  KeyRange,
  Kv,
  KvCapabilities,
  KvRow,
  KvScan,
  KvSnapshot,
  KvWrite,
  RowKey,
  ScanOptions,
} from '../storage/kv.ts'

export interface AsyncKvOptions {
  /** The delay between a call and the store, and again between the store and the answer; a resolved promise by default. */
  readonly hop?: () => Promise<void>
}

export class AsyncKv implements Kv {
  readonly supports: KvCapabilities = { batch: false, snapshot: false }
  /** The wrapped store: what it holds can be looked at without a hop. */
  readonly inner: Kv
  readonly #hop: () => Promise<void>

  constructor(inner: Kv, options: AsyncKvOptions = {}) {
    this.inner = inner
    this.#hop = options.hop ?? (() => Promise.resolve())
  }

  get location(): string {
    return `${this.inner.location}, by promise`
  }

  get(key: RowKey): Promise<Uint8Array | undefined> {
    return this.#there(() => this.inner.get(key))
  }

  mutate(write: KvWrite): Promise<void> {
    return this.#there(() => this.inner.mutate(write))
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): Promise<boolean> {
    return this.#there(() => this.inner.mutateIf(write, expected))
  }

  clear(): Promise<void> {
    return this.#there(() => this.inner.clear())
  }

  batch(): never {
    throw new InvariantError('batch() was called on a store that does not support it')
  }

  snapshot(): KvSnapshot {
    throw new InvariantError('snapshot() was called on a store that does not support it')
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    let scan: KvScan | undefined
    let sought: RowKey | undefined
    let closed = false
    return {
      next: (count) =>
        this.#there((): ReturnType<KvScan['next']> => {
          if (closed) return []
          scan ??= this.inner.scan(range, options)
          if (sought !== undefined) scan.seek(sought)
          sought = undefined
          return scan.next(count) as readonly KvRow[] | Promise<readonly KvRow[]>
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

  close(): Promise<void> {
    return this.inner.close()
  }

  async #there<T>(call: () => T | Promise<T>): Promise<T> {
    await this.#hop()
    const answer = await call()
    await this.#hop()
    return answer
  }
}
