/**
 * Facts of requests, in the words of the API, from which patterns are found. Nothing here waits or fails, and a report costs
 * a request next to nothing: of a busy engine one of many requests is looked at (see {@link Thinning}).
 */
import type { PendingRecord } from '../../log/pending.ts'
import type { Key, PartitionId } from '../../model/key.ts'

/** The changes of one commit in one entity group. */
export type CommittedFact = Pick<PendingRecord, 'group' | 'partition' | 'version' | 'changes'>

/** A commit as asked for, before anything of it is decided. Keys may be incomplete. */
export interface CommitAskedFact {
  readonly mutations: readonly { readonly key: Key }[]
  readonly isTransactional: boolean
}

export interface LookupFact {
  readonly keys: readonly Key[]
  readonly isTransactional: boolean
}

export interface QueryFact {
  readonly partition: PartitionId
  readonly kind: string | undefined
  /** Properties it filters or orders by, or projects. */
  readonly properties: readonly string[]
  /** Composite indexes that the plan reads, as formatIndex() writes them. */
  readonly indexes: readonly string[]
  readonly returned: number
  readonly skipped: number
}

/** A request that is looked at. */
export interface Sample {
  /** Its entities, and those of the requests that were passed over since the sample before: it stands for them. */
  readonly entities: number
  /** Whether the budget lasted for it. */
  readonly isWithinBudget: boolean
}

/**
 * Samples requests: all of them while a budget of entities lasts, which fills up with time, and of the others one of so many, or
 * the first after a quarter of a second. Exact for tests and for single calls, cheap under load.
 *
 *   commits of 500, 1024 in the budget      500  500  500  (126 are passed over)  500
 *   entities that the sample stands for     500  500  500                         63,500
 *
 * The entities of all samples add up to those of all requests, but for the ones passed over since the latest sample.
 */
export class Thinning {
  readonly #exactly: number
  readonly #thinnedBy: number
  #left: number
  #filledMs = 0
  #sampledMs = 0
  /** Requests and their entities since the latest sample. */
  #calls = 0
  #entities = 0

  constructor({ exactly, thinnedBy }: { readonly exactly: number; readonly thinnedBy: number }) {
    this.#exactly = exactly
    this.#thinnedBy = thinnedBy
    this.#left = exactly
  }

  /** @returns `undefined` when the request is passed over */
  sample(entities: number, nowMs: number = this.#filledMs): Sample | undefined {
    if (nowMs > this.#filledMs) {
      this.#left = Math.min(this.#exactly, this.#left + (nowMs - this.#filledMs) * filledPerMs)
      this.#filledMs = nowMs
    }
    const isWithinBudget = this.#left >= entities
    this.#left = Math.max(0, this.#left - entities)
    this.#calls++
    this.#entities += entities
    if (!isWithinBudget && this.#calls < this.#thinnedBy && nowMs - this.#sampledMs < passedMsMax) return undefined
    const sample = { entities: this.#entities, isWithinBudget }
    this.#calls = 0
    this.#entities = 0
    this.#sampledMs = nowMs
    return sample
  }
}

const filledPerMs = 0.1
const passedMsMax = 250
