/** Flags and help of `sixtables indexes`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { databaseFlags } from '../../target/target-flags.ts'

export const indexesCommand: Command = {
  name: 'indexes',
  describe: 'Show, create and delete composite indexes',
  commands: [
    {
      name: 'list',
      describe: 'List the composite indexes of a database, with their states and progress',
      flags: databaseFlags,
      examples: [['$0 indexes list', 'asks the server on 127.0.0.1:8081']],
      run: async (flags, io) => (await import('./indexes.ts')).indexesList(flags, io),
    },
    {
      name: 'create',
      describe: 'Define a composite index and build it',
      positionals: [
        { name: 'kind', describe: 'Kind of the entities' },
        { name: 'properties', list: true, describe: 'Properties in their order; due:desc for a descending one' },
      ],
      flags: [
        ...databaseFlags,
        { name: 'ancestor', type: 'boolean', describe: 'Index for queries with an ancestor', group: 'Create' },
      ],
      examples: [['$0 indexes create Task done due:desc', 'equality on done, newest due first']],
      run: async (flags, io) => (await import('./indexes.ts')).indexesCreate(flags, io),
    },
    {
      name: 'delete',
      describe: 'Delete a composite index and its rows',
      positionals: [{ name: 'id', describe: 'Id of the index, from indexes list' }],
      flags: databaseFlags,
      examples: [['$0 indexes delete 1', 'queries no longer use it from that moment']],
      run: async (flags, io) => (await import('./indexes.ts')).indexesDelete(flags, io),
    },
  ],
}
