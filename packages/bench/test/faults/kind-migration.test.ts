import { kindMigration } from '../../src/labs/kind-migration.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const mislabelled = (arm: string, other: string): Fault => ({
  fault: `${other} runs under the name of ${arm}`,
  as: { [arm]: other },
})
const oneIsEnough: Fault = {
  fault: 'one server can do all that is asked',
  settings: { 'server.opsPerSecond': 100_000 },
}

faultsOf(
  kindMigration,
  {
    'new-kind: a new kind begins in one tablet, and full traffic at once is refused in part': oneIsEnough,
    'new-namespace: a new namespace does so as well': oneIsEnough,
    'switch-at-once: reads of entities that are not there make the new kind hot': oneIsEnough,
    'switch-at-once: a large part of all reads finds no entity': mislabelled('switch-at-once', 'new-kind'),
    'new-kind-ramped: hardly anything is refused': mislabelled('new-kind-ramped', 'new-kind'),
    'ramp-by-user: hardly anything is refused': mislabelled('ramp-by-user', 'switch-at-once'),
    'copy-shuffled: hardly anything is refused': mislabelled('copy-shuffled', 'copy-in-order'),
    'copy-in-order: one tablet has nearly all of the load, and the copy outgrows its server': mislabelled(
      'copy-in-order',
      'copy-shuffled',
    ),
  },
  { settings: { 'load.slotMs': 30_000 }, isDear: true },
)
