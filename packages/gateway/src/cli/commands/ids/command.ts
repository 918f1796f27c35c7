/** Flags and help of `sixtables ids`; `run` imports the code. */
import type { Command, Positional } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { targetFlags } from '../../target/target-flags.ts'

const kind: Positional = { name: 'kind', describe: 'Kind: ToDo, or with a parent User:"ada"/ToDo' }

export const idsCommand: Command = {
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
      run: async (flags, io) => (await import('./permute.ts')).idsPermute(flags, io),
    },
  ],
}
