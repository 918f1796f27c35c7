/** `sixtables gql` for parser, help and reference; what it does is imported when it runs. */
import type { Command } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

const group = 'Query'

export const gqlCommand: Command = {
  name: 'gql',
  describe: 'Run a GQL query and print its results',
  positionals: [{ name: 'query', describe: 'GQL query, in quotes for the shell' }],
  whenMissing: "write a query in quotes, as in sixtables gql 'SELECT * FROM ToDo'",
  whenSurplus: "the shell sees several words here; put the query in quotes, as in sixtables gql 'SELECT * FROM ToDo'",
  flags: [
    ...targetFlags,
    { name: 'limit', type: 'string', describe: 'Maximum number of results', default: 'LIMIT of the query', group },
    { name: 'cursor', type: 'string', describe: 'Cursor from an earlier answer, where this one starts', group },
    { name: 'explain', type: 'boolean', describe: 'Plan of the query, and the number of rows that it read', group },
  ],
  examples: [
    ["$0 gql 'SELECT * FROM ToDo WHERE done = false LIMIT 10'", 'a table, and a cursor for more'],
    ["$0 gql 'SELECT COUNT(*) AS n FROM ToDo' --json", 'for a script'],
    ["$0 gql 'SELECT * FROM ToDo ORDER BY due DESC' --explain", 'the plan as well'],
  ],
  notes: [
    '[GQL](gql.md) describes the language. Tables shorten long values and name types in words; `--json` uses the notation of ' +
      '[fixtures](fixtures.md).',
  ],
  run: async (flags, io) => (await import('./gql.ts')).gql(flags, io),
}
