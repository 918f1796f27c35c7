/** Settings of databases at a store that several gateways share. */
import { type DatabaseSettings, failedPrecondition, type Mode } from '@sixtables/engine'

/** The settings that differ with a shared store: reads are validated, never locked, and commits are applied at once. */
export function sharedSettings(mode: Mode): Pick<DatabaseSettings, 'applyPolicy' | 'concurrency'> {
  const concurrency = mode === 'legacy' ? 'optimisticWithEntityGroups' : 'optimistic'
  return { applyPolicy: { type: 'immediate' }, concurrency }
}

/** Refuses settings that are impossible with a shared store. @throws FAILED_PRECONDITION */
export function checkShared({ mode, concurrency, applyPolicy }: Partial<DatabaseSettings>): void {
  if (mode !== undefined) {
    throw failedPrecondition(
      'all gateways of a shared store have one mode; start each of them with --mode to have another one',
    )
  }
  if (concurrency === 'pessimistic') {
    throw failedPrecondition(
      'pessimistic concurrency needs locks that one process holds; use optimistic, or a store of one process',
    )
  }
  if (applyPolicy !== undefined && applyPolicy.type !== 'immediate') {
    throw failedPrecondition(
      `the apply policy ${applyPolicy.type} needs a store of one process; a store that several gateways share applies at once`,
    )
  }
}
