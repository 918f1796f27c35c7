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
  /** Oldest first; three lists instead of objects, which would live for a window. */
  readonly #keys: RowKey[] = []
  readonly #times: number[] = []
  readonly #weights: number[] = []
  #stride = 1
  #skip = 0

  add(rowKey: RowKey, atMs: number, weight: number, random: Random, windowMs: number): void {
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    const stride = this.#stride
    if (stride > 1) this.#skip = random.integer(2 * stride - 1)
    this.#keys.push(rowKey)
    this.#times.push(atMs)
    this.#weights.push(weight * stride)
    if (this.#keys.length >= capacity) this.#makeRoom(atMs - windowMs)
  }

  /** The operations since `sinceMs`, oldest first. */
  since(sinceMs: number): readonly SampledOperation[] {
    const operations: SampledOperation[] = []
    for (let i = this.#firstSince(sinceMs); i < this.#keys.length; i++) {
      const [rowKey, atMs, weight] = [this.#keys[i] as RowKey, this.#times[i] as number, this.#weights[i] as number]
      operations.push({ rowKey, atMs, weight })
    }
    return operations
  }

  #firstSince(sinceMs: number): number {
    let first = 0
    while (first < this.#times.length && (this.#times[first] as number) < sinceMs) first++
    return first
  }

  #makeRoom(sinceMs: number): void {
    const first = this.#firstSince(sinceMs)
    const recent = this.#keys.length - first
    if (recent <= capacity / 2) {
      this.#keep(first, 1)
      // The load has fallen: with few recent entries, more operations may be kept again.
      if (recent <= capacity / 4 && this.#stride > 1) this.#stride /= 2
      return
    }
    this.#keep(first, 2)
    this.#stride *= 2
  }

  /** Keeps one of `every` entries from `first` on, which stands for all of them. */
  #keep(first: number, every: number): void {
    let to = 0
    for (let from = first; from < this.#keys.length; from += every, to++) {
      this.#keys[to] = this.#keys[from] as RowKey
      this.#times[to] = this.#times[from] as number
      this.#weights[to] = (this.#weights[from] as number) * every
    }
    this.#keys.length = to
    this.#times.length = to
    this.#weights.length = to
  }
}
