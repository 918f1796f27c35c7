/** Flags and help of `sixtables check`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { storeFlags } from '../../target/bigtable-flags.ts'
import { placeFlags } from '../../target/target-flags.ts'

export const checkCommand: Command = {
  name: 'check',
  describe:
    'Compare entities, index rows, log and markers; exit code 1 if they disagree, 2 if they could not be compared',
  flags: [
    ...placeFlags,
    ...storeFlags,
    ...flagTable(`
Check
  repair | switch | Repair: index rows are written again from the entities
`),
  ],
  examples: [
    ['$0 check', 'asks the server on 127.0.0.1:8081'],
    ['$0 check --data-dir .sixtables --json', 'opens a folder that no server uses'],
    [
      '$0 check --store bigtable --bigtable-project shop --bigtable-instance main',
      'reads a Bigtable at one moment, with its gateways running',
    ],
  ],
  run: async (flags, io) => (await import('./check.ts')).check(flags, io),
}
