/**
 * Mechanisms of the engine that a test can switch off, to prove that a check notices. Only `EngineOptions.switchedOff` does
 * so: no flag, no setting and no call.
 */

export type Mechanism =
  | 'roll-forward' // a strong read does not apply what is committed in its groups
  | 'id-reservation' // ids that are reserved, or written by hand, do not move the counter
  | 'id-counter' // ids are given and not counted, so that they are given again
  | 'conflict-check' // a commit does not notice that what it read has changed, and waits for no lock
  | 'expired-check' // an entity that was found expired is deleted, also when it was renewed since

/** A set of mechanisms; those of a store of another package may be in it as well. */
export interface SwitchedOff {
  has(mechanism: Mechanism): boolean
}
