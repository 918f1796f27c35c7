/** Settings of a database, and the presets they come from. Every knob can be set on its own. */
import type { IdCollisions, IdPolicy } from '../ids/allocator.ts'
import type { ApplyPolicy } from '../log/apply-policy.ts'
import type { TransactionSettings } from '../transactions/transactions.ts'
import type { MissingIndexPolicy } from './query-indexes.ts'

/** `firestore`: Firestore in Datastore mode, as production runs today. `legacy`: Datastore as it was on Megastore. */
export type Mode = 'firestore' | 'legacy'

/** A kind whose entities expire. */
export interface TtlPolicy {
  readonly kind: string
  /** The property whose timestamp is the moment of expiry. */
  readonly property: string
}

export interface DatabaseSettings extends TransactionSettings {
  readonly mode: Mode
  readonly applyPolicy: ApplyPolicy
  /** Whether a composite index that a query lacks is built for it, or asked for. */
  readonly indexes: MissingIndexPolicy
  /** How automatic ids are given; allocated ids are scattered under both. */
  readonly idPolicy: IdPolicy
  /** `fail` is the answer of legacy Datastore to an id that was put by hand; both presets take the next free id. */
  readonly idCollisions: IdCollisions
  /** Kinds whose entities expire. */
  readonly ttlPolicies: readonly TtlPolicy[]
}

/** The chance with which Google's legacy emulator applies a waiting record at a global query (measured: its default). */
export const legacyConsistency = 0.9

const presets: Readonly<Record<Mode, DatabaseSettings>> = {
  firestore: {
    mode: 'firestore',
    applyPolicy: { type: 'immediate' },
    indexes: 'auto',
    idPolicy: 'scattered',
    idCollisions: 'next',
    ttlPolicies: [],
    concurrency: 'pessimistic',
    lockTimeoutMs: 2000,
    entityGroupsMax: undefined,
  },
  legacy: {
    mode: 'legacy',
    applyPolicy: { type: 'probability', chance: legacyConsistency },
    indexes: 'auto',
    idPolicy: 'storewide',
    idCollisions: 'next',
    ttlPolicies: [],
    concurrency: 'optimisticWithEntityGroups',
    lockTimeoutMs: 2000,
    // Documented for the Datastore of that time, and measured on the legacy emulator.
    entityGroupsMax: 25,
  },
}

/** The settings that a mode decides, without those set beside it. */
export function modeSettings(
  mode: Mode,
): Pick<DatabaseSettings, 'mode' | 'applyPolicy' | 'idPolicy' | 'concurrency' | 'entityGroupsMax'> {
  const { applyPolicy, idPolicy, concurrency, entityGroupsMax } = presets[mode]
  return { mode, applyPolicy, idPolicy, concurrency, entityGroupsMax }
}

/** The preset of a mode with single settings replaced. */
export function settingsOf(mode: Mode, replaced: Partial<Omit<DatabaseSettings, 'mode'>> = {}): DatabaseSettings {
  return { ...presets[mode], ...replaced }
}
