/**
 * A bounded sample of the operations on a tablet over the decision window: what a split is decided by.
 *
 * LS1  A kept operation stands for `stride` of them, so weights in a sample add up to the load, on average.
 * LS2  When the sample is full before the window is over every second entry goes and the stride doubles. Strides are drawn,
 *      not counted: operations come in periods (a commit writes the same tables in turn), and a fixed stride would always
 *      meet the same one.
 */
import type { Random } from '../random.ts'
import type { RowKey } from '../storage/kv.ts'

const capacity = 256

export interface SampledOperation {
  readonly rowKey: RowKey
  readonly atMs: number
  readonly weight: number
}

export class LoadSample {
  #entries: SampledOperation[] = []
  #stride = 1
  #skip = 0

  add(operation: SampledOperation, random: Random, windowMs: number): void {
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    const stride = this.#stride
    if (stride > 1) this.#skip = random.integer(2 * stride - 1)
    this.#entries.push(stride === 1 ? operation : { ...operation, weight: operation.weight * stride })
    if (this.#entries.length >= capacity) this.#makeRoom(operation.atMs - windowMs)
  }

  /** The operations since `sinceMs`, oldest first. */
  since(sinceMs: number): readonly SampledOperation[] {
    const first = this.#entries.findIndex(({ atMs }) => atMs >= sinceMs)
    return first <= 0 ? (first < 0 ? [] : this.#entries) : this.#entries.slice(first)
  }

  #makeRoom(sinceMs: number): void {
    const recent = this.since(sinceMs)
    if (recent.length <= capacity / 2) {
      this.#entries = [...recent]
      // The window is long gone for what was dropped: the load has fallen, and each operation may count again.
      if (recent.length <= capacity / 4 && this.#stride > 1) this.#stride /= 2
      return
    }
    this.#entries = recent.filter((_, i) => i % 2 === 0).map((one) => ({ ...one, weight: one.weight * 2 }))
    this.#stride *= 2
  }
}
