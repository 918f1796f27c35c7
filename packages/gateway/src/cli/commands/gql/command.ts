/** `sixtables gql` for parser, help and reference; what it does is imported when it runs. */
import type { Command } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

const group = 'Query'

export const gqlCommand: Command = {
  name: 'gql',
  describe: 'Run a GQL query and print what it finds',
  positionals: [{ name: 'query', describe: 'In quotes, for the shell' }],
  whenMissing: "write a query in quotes, as in sixtables gql 'SELECT * FROM ToDo'",
  whenSurplus: "the shell sees several words here; put the query in quotes, as in sixtables gql 'SELECT * FROM ToDo'",
  flags: [
    ...targetFlags,
    { name: 'limit', type: 'string', describe: 'At most so many results', default: 'as the query says', group },
    { name: 'cursor', type: 'string', describe: 'Go on where an earlier answer ended', group },
    { name: 'explain', type: 'boolean', describe: 'Say how the query was run, and what it read', group },
  ],
  examples: [
    ["$0 gql 'SELECT * FROM ToDo WHERE done = false LIMIT 10'", 'a table, and a cursor for more'],
    ["$0 gql 'SELECT COUNT(*) AS n FROM ToDo' --json", 'for a script'],
    ["$0 gql 'SELECT * FROM ToDo ORDER BY due DESC' --explain", 'the plan as well'],
  ],
  notes: [
    '[GQL](gql.md) is the language. Tables shorten long values and show types as words; `--json` has the notation of ' +
      '[fixtures](fixtures.md).',
  ],
  run: async (flags, io) => (await import('./gql.ts')).gql(flags, io),
}
