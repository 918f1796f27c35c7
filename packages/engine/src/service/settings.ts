/** Settings of a database, and the presets they come from. Every knob can be set on its own. */
import type { IdPolicy } from '../ids/allocator.ts'
import type { ApplyPolicy } from '../log/apply-policy.ts'

/** `firestore`: Firestore in Datastore mode, as production runs today. `legacy`: Datastore as it was on Megastore. */
export type Mode = 'firestore' | 'legacy'

export interface DatabaseSettings {
  readonly mode: Mode
  readonly applyPolicy: ApplyPolicy
  /** How automatic ids are given; allocated ids are scattered under both. */
  readonly idPolicy: IdPolicy
}

/** The chance with which Google's legacy emulator applies a waiting record at a global query (measured: its default). */
export const legacyConsistency = 0.9

const presets: Readonly<Record<Mode, DatabaseSettings>> = {
  firestore: { mode: 'firestore', applyPolicy: { type: 'immediate' }, idPolicy: 'scattered' },
  legacy: {
    mode: 'legacy',
    applyPolicy: { type: 'probability', chance: legacyConsistency },
    idPolicy: 'sequential',
  },
}

/** The preset of a mode with single settings replaced. */
export function settingsOf(mode: Mode, replaced: Partial<Omit<DatabaseSettings, 'mode'>> = {}): DatabaseSettings {
  return { ...presets[mode], ...replaced }
}
