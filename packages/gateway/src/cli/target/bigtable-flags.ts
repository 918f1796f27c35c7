/** The flags for a table of a Bigtable, which several commands share. BIGTABLE_EMULATOR_HOST names an emulator, as for Google's clients. */
import type { Flag } from '../framework/command.ts'
import { flagTable } from '../framework/flag-table.ts'

/** The kind of store, for commands that can read more than one, and the names of the table. */
export const storeFlags: readonly Flag[] = flagTable(`
Bigtable
  store                | local bigtable | Data on this machine, or in a Bigtable, for any number of gateways (package @sixtables/bigtable) | local
  bigtable-project     | text | Project of the Bigtable instance
  bigtable-instance    | text | Id of the Bigtable instance
  bigtable-table       | text | Id of the table | sixtables
  bigtable-app-profile | text | App profile with single-cluster routing and single-row transactions | the default of the instance
`)

/** The names of the table. */
export const bigtableFlags: readonly Flag[] = storeFlags.slice(1)
