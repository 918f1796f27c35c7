/** Settings of a database, and their presets. Each setting can also be set alone. */
import type { IdCollisions, IdPolicy } from '../ids/allocator.ts'
import { limits } from '../limits.ts'
import type { ApplyPolicy } from '../log/apply-policy.ts'
import type { TransactionSettings } from '../transactions/transaction.ts'
import type { MissingIndexPolicy } from './query-indexes.ts'

/** `firestore`: Firestore in Datastore mode, today's production. `legacy`: Datastore as it was on Megastore. */
export type Mode = 'firestore' | 'legacy'

export interface TtlPolicy {
  readonly kind: string
  /** The property with the time of expiry, a timestamp. */
  readonly property: string
}

export interface DatabaseSettings extends TransactionSettings {
  readonly mode: Mode
  readonly applyPolicy: ApplyPolicy
  /** Whether a missing composite index of a query is built, or the query refused. */
  readonly indexes: MissingIndexPolicy
  /** The source of automatic ids; allocateIds() gives scattered ids under both. */
  readonly idPolicy: IdPolicy
  /** `fail` is legacy Datastore's answer to an id that a client chose before; both presets take the next free id. */
  readonly idCollisions: IdCollisions
  readonly ttlPolicies: readonly TtlPolicy[]
}

/** The chance that Google's legacy emulator applies a pending record at a global query (measured: its default). */
export const legacyConsistency = 0.9

type ModeSettings = Pick<DatabaseSettings, 'mode' | 'applyPolicy' | 'idPolicy' | 'concurrency' | 'entityGroupsMax'>

const presets: Readonly<Record<Mode, ModeSettings>> = {
  firestore: {
    mode: 'firestore',
    applyPolicy: { type: 'immediate' },
    idPolicy: 'scattered',
    concurrency: 'pessimistic',
    entityGroupsMax: undefined,
  },
  legacy: {
    mode: 'legacy',
    applyPolicy: { type: 'probability', chance: legacyConsistency },
    idPolicy: 'storewide',
    concurrency: 'optimisticWithEntityGroups',
    // Documented for Datastore at that time, and measured on the legacy emulator.
    entityGroupsMax: limits.legacyTransactionEntityGroupsMax,
  },
}

export function modeSettings(mode: Mode): ModeSettings {
  return presets[mode]
}

/** The preset of a mode with single settings replaced. */
export function settingsOf(mode: Mode, replaced: Partial<Omit<DatabaseSettings, 'mode'>> = {}): DatabaseSettings {
  return {
    ...presets[mode],
    indexes: 'auto',
    idCollisions: 'next',
    ttlPolicies: [],
    lockTimeoutMs: 2000,
    ...replaced,
  }
}
