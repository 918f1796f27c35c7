/** The flags for a table of a Bigtable, which several commands share. */
import type { Flag } from '../framework/command.ts'

const group = 'Bigtable'

/** The kind of store, for commands that can read more than one. */
export const storeFlag: Flag = {
  name: 'store',
  type: 'string',
  choices: ['local', 'bigtable'],
  describe: 'Data on this machine, or in a Bigtable, for any number of gateways (package @sixtables/bigtable)',
  default: 'local',
  group,
}

/** Flags for the names of the table. BIGTABLE_EMULATOR_HOST names an emulator, as for Google's clients. */
export const bigtableFlags: readonly Flag[] = [
  { name: 'bigtable-project', type: 'string', describe: 'Project of the Bigtable instance', group },
  { name: 'bigtable-instance', type: 'string', describe: 'Id of the Bigtable instance', group },
  { name: 'bigtable-table', type: 'string', describe: 'Id of the table', default: 'sixtables', group },
  {
    name: 'bigtable-app-profile',
    type: 'string',
    describe: 'App profile with single-cluster routing and single-row transactions',
    default: 'the default of the instance',
    group,
  },
]
