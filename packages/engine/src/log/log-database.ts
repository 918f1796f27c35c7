/** A database as its log sees it. */
import type { KeyCodes } from '../encoding/key-codec.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { RowKey } from '../storage/kv.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { ApplyPolicy } from './apply-policy.ts'

export interface LogDatabase extends IndexRules {
  /** Code of project and database. */
  readonly code: string
  readonly settings: { readonly applyPolicy: ApplyPolicy }
  /** The database that follows after a reset has deleted the rows and definitions of this one; absent = it is not deleted. */
  readonly successor?: (() => LogDatabase) | undefined
}

/** Thrown by an append, or a call for many ids, that a reset or a restore has overtaken; the caller begins again. */
export class Superseded extends Error {}

/** Reads the newest committed Entities cell of an entity, from its codes and its row in Entities (commit-log/L4). */
export type CommittedReader = (codes: KeyCodes, row: RowKey) => MaybePromise<Uint8Array | undefined>
