/** Flags and help of `sixtables bigtable`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { bigtableFlags } from '../../target/bigtable-flags.ts'
import { databaseFlags } from '../../target/target-flags.ts'

const ofDatabase = databaseFlags.filter(({ name }) => name === 'project' || name === 'database')

export const bigtableCommand: Command = {
  name: 'bigtable',
  describe: 'Make the table of a Bigtable that keeps the data, and change its clock rows',
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
      run: async (flags, io) => (await import('./bigtable.ts')).bigtableCreate(flags, io),
    },
    {
      name: 'rows',
      describe: 'Change the number of clock rows of a database, while its gateways run',
      positionals: [{ name: 'number', describe: 'Clock rows, from 1 to 64' }],
      flags: [...bigtableFlags, ...ofDatabase],
      examples: [
        [
          '$0 bigtable rows 4 --bigtable-project shop --bigtable-instance main --project shop',
          'for some eight gateways',
        ],
      ],
      notes: [
        'A clock row takes some 200 to 500 conditional writes a second. With several rows more gateways commit at a time, but each commit and ' +
          'each strong read reads all of them. One row is best for one or two gateways, and half as many rows as gateways for more.',
      ],
      run: async (flags, io) => (await import('./bigtable.ts')).bigtableRows(flags, io),
    },
  ],
}
