/** Flags and help of `sixtables seed`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { databaseFlags } from '../../target/target-flags.ts'

export const seedCommand: Command = {
  name: 'seed',
  describe: 'Write the entities of a fixture: JSON, YAML or CSV',
  positionals: [{ name: 'file', describe: 'Fixture file; - for stdin' }],
  whenMissing: 'name a fixture, as in sixtables seed tasks.yaml',
  flags: [
    ...databaseFlags,
    ...flagTable(`
Fixture
  format | json yaml csv | Format of the file | by the extension of the file
  kind   | text | Kind of the rows of a CSV file without a key column | the name of the file
`),
  ],
  examples: [
    ['$0 seed fixtures/tasks.yaml', 'into the server on 127.0.0.1:8081'],
    ['$0 seed Task.csv --project p1', 'rows are entities of kind Task'],
    ['$0 dump --data-dir old | $0 seed - --format yaml', 'from a folder into the server'],
  ],
  notes: ['[Fixtures](fixtures.md) describes the format. If the fixture has any error, nothing is written.'],
  run: async (flags, io) => (await import('./seed.ts')).seed(flags, io),
}
