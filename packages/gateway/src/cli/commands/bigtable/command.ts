/** Flags and help of `sixtables bigtable`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { bigtableFlags } from '../../target/bigtable-flags.ts'

export const bigtableCommand: Command = {
  name: 'bigtable',
  describe: 'Make the table of a Bigtable that keeps the data',
  commands: [
    {
      name: 'create',
      describe: 'Make the table with its column families; needs roles/bigtable.admin',
      flags: bigtableFlags,
      examples: [['$0 bigtable create --bigtable-project shop --bigtable-instance main', 'the table sixtables']],
      notes: [
        'With BIGTABLE_EMULATOR_HOST the table is made in that emulator, where `sixtables start` makes it as well. A table that is ' +
          'there already is looked at, and left as it is.',
      ],
      run: async (flags, io) => (await import('./create.ts')).bigtableCreate(flags, io),
    },
  ],
}
