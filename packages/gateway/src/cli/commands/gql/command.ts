/** Flags and help of `sixtables gql`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { targetFlags } from '../../target/target-flags.ts'

export const gqlCommand: Command = {
  name: 'gql',
  describe: 'Run a GQL query and print its results; without a query, a prompt for queries',
  positionals: [{ name: 'query', describe: 'GQL query, in quotes for the shell', optional: true }],
  whenSurplus: "the shell sees several words here; put the query in quotes, as in sixtables gql 'SELECT * FROM ToDo'",
  flags: [
    ...targetFlags,
    ...flagTable(`
Query
  limit   | text   | Maximum number of results | LIMIT of the query
  cursor  | text   | Cursor from an earlier answer, where this one starts
  explain | switch | Plan of the query, and the number of rows that it read
`),
  ],
  examples: [
    ["$0 gql 'SELECT * FROM ToDo WHERE done = false LIMIT 10'", 'a table, and a cursor for more'],
    ["$0 gql 'SELECT COUNT(*) AS n FROM ToDo' --json", 'for a script'],
    ["$0 gql 'SELECT * FROM ToDo ORDER BY due DESC' --explain", 'the plan as well'],
    ['$0 gql --project demo', 'a prompt with history and completion'],
  ],
  notes: [
    '[GQL](gql.md) describes the language. Tables shorten long values and name types in words; `--json` uses the notation of ' +
      '[fixtures](fixtures.md).',
    'Without a query and at a terminal, the command is a prompt. Tab completes keywords, kinds and properties; Up and Down walk through ' +
      'the history, among the lines that begin with the text before the cursor. A line that is a whole query of a kind runs at once. A ' +
      'longer query ends with `;` or an empty line. `explain QUERY` prints the plan as well, as `--explain`. `help` or `\\?` lists the ' +
      'commands. Ctrl-C clears the line, or stops waiting for an answer; `exit`, `\\q` or Ctrl-D ends. The newest 1,000 queries are kept ' +
      'in `sixtables/gql-history` below `XDG_STATE_HOME`, by default `~/.local/state`, which only you can read.',
    'Without a terminal, as in `sixtables gql < queries.txt`, queries are read from stdin by the same rules, and the first that fails ' +
      'ends the command.',
  ],
  run: async (flags, io) => (await import('./gql.ts')).gql(flags, io),
}
