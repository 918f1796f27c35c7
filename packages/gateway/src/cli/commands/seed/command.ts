/** `sixtables seed` for parser, help and reference; what it does is imported when it runs. */
import type { Command } from '../../framework/command.ts'
import { databaseFlags } from '../../target/target-flags.ts'

export const seedCommand: Command = {
  name: 'seed',
  describe: 'Write the entities of a fixture: JSON, YAML or CSV',
  positionals: [{ name: 'file', describe: 'The fixture; - reads it from stdin' }],
  whenMissing: 'name a fixture, as in sixtables seed tasks.yaml',
  flags: [
    ...databaseFlags,
    {
      name: 'format',
      type: 'string',
      choices: ['json', 'yaml', 'csv'],
      describe: 'What the file is',
      default: 'as its ending says',
      group: 'Fixture',
    },
    {
      name: 'kind',
      type: 'string',
      describe: 'Of the rows of a CSV file that have no key of their own',
      default: 'the name of the file',
      group: 'Fixture',
    },
  ],
  examples: [
    ['$0 seed fixtures/tasks.yaml', 'into the server on 127.0.0.1:8081'],
    ['$0 seed Task.csv --project p1', 'rows are entities of kind Task'],
    ['$0 dump --data-dir old | $0 seed - --format yaml', 'from a folder into the server'],
  ],
  notes: ['[Fixtures](fixtures.md) has the format. Nothing is written when anything in the fixture is wrong.'],
  run: async (flags, io) => (await import('./seed.ts')).seed(flags, io),
}
