/** The commands for ids, indexes, faults and the clock, and those for the installation. Only `run` imports a command's code. */
import { type Command, flagTable, type Positional } from '../framework/command.ts'
import { bigtableFlags, databaseFlags, targetFlags } from '../target/target-flags.ts'
import { envCommand } from './data-commands.ts'
import { clockCommand, faultsCommand } from './server-questions.ts'

const kind: Positional = { name: 'kind', describe: 'Kind: ToDo, or with a parent User:"ada"/ToDo' }

export const controlCommands: readonly Command[] = [
  {
    name: 'ids',
    describe: 'Show the next automatic ids, reserve and allocate ids, permute old numbers',
    notes: [
      'Sequential ids have a counter for each kind and parent; scattered ids have one counter for each database ' +
        '([Ids](../architecture/ids.md)). The server answers the same over HTTP ([HTTP and gRPC](http.md)).',
    ],
    commands: [
      {
        name: 'next',
        describe: 'Show the next automatic ids, without assigning them',
        positionals: [kind],
        flags: targetFlags,
        examples: [['$0 ids next ToDo', 'asks the server on 127.0.0.1:8081']],
        run: async (flags, io) => (await import('./ids.ts')).idsNext(flags, io),
      },
      {
        name: 'reserve',
        describe: 'Reserve the ids of these keys: they are not assigned to other entities',
        positionals: [{ name: 'keys', list: true, describe: 'Keys: ToDo:7 User:"ada"/ToDo:9' }],
        flags: targetFlags,
        examples: [['$0 ids reserve ToDo:7', 'moves the counter past 7']],
        run: async (flags, io) => (await import('./ids.ts')).idsReserve(flags, io),
      },
      {
        name: 'range',
        describe: 'Reserve a range of ids, and print its state: EMPTY, CONTENTION or COLLISION',
        positionals: [kind, { name: 'start', describe: 'First id, 1 or above' }, { name: 'end', describe: 'Last id' }],
        flags: targetFlags,
        examples: [['$0 ids range ToDo 1 5000', 'EMPTY, CONTENTION or COLLISION']],
        run: async (flags, io) => (await import('./ids.ts')).idsRange(flags, io),
      },
      {
        name: 'allocate',
        describe: 'Allocate a block of sequential ids, or all free ids up to a maximum',
        positionals: [kind],
        flags: [
          ...targetFlags,
          ...flagTable(`
Allocate
  size | text | Number of ids
  max  | text | Highest id
`),
        ],
        examples: [['$0 ids allocate ToDo --size 100', 'the next hundred']],
        run: async (flags, io) => (await import('./ids.ts')).idsAllocate(flags, io),
      },
      {
        name: 'permute',
        describe: 'Map the old row numbers 1, 2, 3 … to keys that are spread over the key range; reversible',
        notes: [
          'Prints each old id and its new id, separated by a tab, without a server. The same secret and size always give the ' +
            'same ids; keep both, since --reverse needs them ([Moving keys that were numbers](../architecture/ids.md#moving-keys-that-were-numbers)).',
        ],
        positionals: [{ name: 'ids', list: true, describe: 'Numbers, or names with --names --reverse; - for stdin' }],
        flags: flagTable(`
Permutation
  secret  | text   | Text that chooses the permutation
  size    | text   | Number of ids N: the permutation maps 1 to N onto itself
  names   | switch | Output as names of 13 characters, not as ids
  reverse | switch | Reverse direction: from new keys to old numbers
Output
  json    | switch | JSON output
`),
        examples: [
          ['$0 ids permute 1 2 3 --secret move-2026 --size 1000000', 'new ids between 1 and 1,000,000'],
          ['seq 1 5000 | $0 ids permute - --secret move-2026 --names', 'a name for each of 5,000 rows'],
        ],
        run: async (flags, io) => (await import('./ids.ts')).idsPermute(flags, io),
      },
    ],
  },
  {
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
  },
  faultsCommand,
  clockCommand,
  {
    name: 'completion',
    describe: 'Print a script for the completion of commands and flags in a shell',
    positionals: [{ name: 'shell', optional: true, describe: 'bash, zsh or fish; default: the shell in SHELL' }],
    examples: [
      ['$0 completion bash >> ~/.bashrc', 'bash'],
      ['$0 completion zsh >> ~/.zshrc', 'zsh'],
      ['$0 completion fish > ~/.config/fish/completions/sixtables.fish', 'fish'],
    ],
    run: async (flags, io) => (await import('./completion.ts')).completion(flags, io),
  },
  {
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
        flags: [...bigtableFlags, ...databaseFlags.filter(({ name }) => name === 'project' || name === 'database')],
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
  },
  // Gcloud's names for env.
  { ...envCommand, name: 'env-init', hidden: true },
  {
    ...envCommand,
    name: 'env-unset',
    hidden: true,
    run: async (flags, io) => (await import('./env.ts')).env({ ...flags, unset: true }, io),
  },
]
