/**
 * A store that answers everything by promise. Code that works with it does not depend on immediate answers.
 *
 * A call reaches the wrapped store one hop after it was made, and the answer comes one hop later, so that other calls run in
 * between. Writes keep their order (kv/K7). A scan reads the store at its first `next` (kv/K4 allows any moment after its
 * opening). A snapshot is of the turn in which it was made, as in every store; only its reads are late.
 */
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

export interface AsyncKvOptions {
  /** The delay between a call and the store, and again between the store and the answer; a resolved promise by default. */
  readonly hop?: () => Promise<void>
}

export class AsyncKv implements Kv {
  /** The wrapped store, for reads without a hop. */
  readonly inner: Kv
  readonly #hop: () => Promise<void>
  /** Two promises: the latest write has reached the store, and it was answered. */
  #reached: Promise<unknown> = Promise.resolve()
  #answered: Promise<unknown> = Promise.resolve()

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
    return this.#inTurn(() => this.inner.mutate(write))
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): Promise<boolean> {
    return this.#inTurn(() => this.inner.mutateIf(write, expected))
  }

  clear(rows?: readonly KvRow[]): Promise<void> {
    return this.#inTurn(() => this.inner.clear(rows))
  }

  batch(writes: Writes): Promise<void> {
    return this.#inTurn(() => this.inner.batch(writes))
  }

  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): Promise<void> {
    return this.#inTurn(() => this.inner.deleteRanges(ranges, rows))
  }

  snapshot(): KvSnapshot {
    const snapshot = this.inner.snapshot()
    return {
      get: (key) => this.#there(() => snapshot.get(key)),
      scan: (range, options) => this.#scanOf(snapshot, range, options),
      close: () => snapshot.close(),
    }
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    return this.#scanOf(this.inner, range, options)
  }

  #scanOf(reader: KvReader, range: KeyRange, options: ScanOptions | undefined): KvScan {
    let scan: KvScan | undefined
    let sought: RowKey | undefined
    let closed = false
    return {
      next: (count) =>
        this.#there((): ReturnType<KvScan['next']> => {
          if (closed) return []
          scan ??= reader.scan(range, options)
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

  #inTurn<T>(write: () => T | Promise<T>): Promise<T> {
    const answered = this.#answered
    const effect = Promise.all([this.#hop(), this.#reached]).then(write)
    const answer = effect.finally(() => Promise.all([this.#hop(), answered]))
    this.#reached = effect.catch(() => undefined)
    this.#answered = answer.catch(() => undefined)
    return answer
  }

  async #there<T>(call: () => T | Promise<T>): Promise<T> {
    await this.#hop()
    const answer = await call()
    await this.#hop()
    return answer
  }
}
