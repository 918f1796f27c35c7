/**
 * A scan whose rows must be made first, such as those of a past moment. It can be used at once: scan(), seek(ToDo:5), next(10)
 * waits in next() until the rows are made, and then reads from ToDo:5 on.
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
