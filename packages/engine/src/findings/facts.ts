/**
 * Facts of requests, in the words of the API, from which patterns are found. Nothing here waits or fails, and a report costs
 * a request next to nothing: of a busy engine one of many requests is looked at (see {@link Thinning}).
 */
import type { PendingRecord } from '../log/pending.ts'
import type { Key, PartitionId } from '../model/key.ts'

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

/**
 * Lets requests pass while a budget of entities lasts, which fills up with time, and of the others one of so many: exact for
 * tests and for single calls, cheap under load.
 */
export class Thinning {
  readonly #exactly: number
  readonly #thinnedBy: number
  #left: number
  #filledMs = 0
  #calls = 0

  constructor({ exactly, thinnedBy }: { readonly exactly: number; readonly thinnedBy: number }) {
    this.#exactly = exactly
    this.#thinnedBy = thinnedBy
    this.#left = exactly
  }

  /** @returns for how many requests like it this one stands; 0 when it is passed over */
  stands(entities: number, nowMs: number = this.#filledMs): number {
    if (nowMs > this.#filledMs) {
      this.#left = Math.min(this.#exactly, this.#left + (nowMs - this.#filledMs) * filledPerMs)
      this.#filledMs = nowMs
    }
    this.#left -= entities
    if (this.#left >= 0) return 1
    this.#left = 0
    return this.#calls++ % this.#thinnedBy === 0 ? this.#thinnedBy : 0
  }
}

const filledPerMs = 0.1
