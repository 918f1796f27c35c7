/**
 * A scan of rows that must be made first, such as the rows of a past moment. The first next() waits for them; a seek before
 * that is remembered.
 */
import type { KvRow, KvScan, RowKey } from './kv.ts'

export class AwaitedScan implements KvScan {
  readonly #opened: Promise<KvScan>
  #sought: RowKey | undefined
  #scan: KvScan | undefined
  #isClosed = false

  /** @param opened - resolves with the scan */
  constructor(opened: Promise<KvScan>) {
    this.#opened = opened
    opened.then(
      (scan) => this.#begin(scan),
      // Reported to the next caller that asks for rows.
      () => {},
    )
  }

  async next(count: number): Promise<readonly KvRow[]> {
    const scan = await this.#opened
    return scan.next(count)
  }

  seek(key: RowKey): void {
    if (this.#scan === undefined) this.#sought = key
    else this.#scan.seek(key)
  }

  close(): void {
    this.#isClosed = true
    this.#scan?.close()
  }

  #begin(scan: KvScan): void {
    this.#scan = scan
    if (this.#sought !== undefined) scan.seek(this.#sought)
    if (this.#isClosed) scan.close()
  }
}
