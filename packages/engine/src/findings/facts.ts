/**
 * What the patterns are told of: facts of requests, in the words of the API. Nothing here waits or fails, and telling costs
 * a request next to nothing: of a busy engine every eighth request is looked at (see {@link Thinning}).
 */
import type { PendingRecord } from '../log/pending.ts'
import type { Key, PartitionId } from '../model/key.ts'

/** What one commit did in one entity group. */
export type CommittedFact = Pick<PendingRecord, 'group' | 'partition' | 'version' | 'changes' | 'indexWrites'>

/** A commit as asked for, before anything of it is decided. Keys may be incomplete. */
export interface CommitAskedFact {
  readonly keys: readonly Key[]
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

/** Lets requests pass until so many entities were seen, and every eighth from then on: exact for a test, cheap under load. */
export class Thinning {
  #entities = 0
  #calls = 0

  /** @returns for how many requests like it this one stands; 0 when it is passed over */
  stands(entities: number): number {
    this.#entities += entities
    if (this.#entities <= exactly) return 1
    return this.#calls++ % thinnedBy === 0 ? thinnedBy : 0
  }
}

const exactly = 4096
const thinnedBy = 8
