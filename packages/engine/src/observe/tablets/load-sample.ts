/**
 * A bounded sample of the operations on a tablet over the decision window, for the decision to split.
 *
 *   stride 4: about every fourth operation is kept, with weight 4, so the weights add up to the load, on average
 *
 * If the sample is full before the window is over, every second entry is dropped and the stride doubles. Strides are random:
 * operations are periodic (a commit writes the same tables in turn), and a fixed stride would always pick the same one.
 */
import type { Random } from '../../random.ts'
import type { RowKey } from '../../storage/kv.ts'

const capacity = 256

export interface SampledOperation {
  readonly rowKey: RowKey
  readonly atMs: number
  readonly weight: number
}

export class LoadSample {
  /** Oldest first. */
  #operations: SampledOperation[] = []
  #stride = 1
  #skip = 0

  add(rowKey: RowKey, atMs: number, weight: number, random: Random, windowMs: number): void {
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    const stride = this.#stride
    if (stride > 1) this.#skip = random.integer(2 * stride - 1)
    this.#operations.push({ rowKey, atMs, weight: weight * stride })
    if (this.#operations.length >= capacity) this.#makeRoom(atMs - windowMs)
  }

  since(sinceMs: number): readonly SampledOperation[] {
    const first = this.#operations.findIndex(({ atMs }) => atMs >= sinceMs)
    return first < 0 ? [] : this.#operations.slice(first)
  }

  #makeRoom(sinceMs: number): void {
    const recent = this.since(sinceMs)
    if (recent.length <= capacity / 2) {
      this.#operations = [...recent]
      // The load has fallen: with few recent entries, more operations may be kept again.
      if (recent.length <= capacity / 4 && this.#stride > 1) this.#stride /= 2
      return
    }
    this.#operations = []
    for (let i = 0; i < recent.length; i += 2) {
      const { rowKey, atMs, weight } = recent[i] as SampledOperation
      this.#operations.push({ rowKey, atMs, weight: weight * 2 })
    }
    this.#stride *= 2
  }
}
