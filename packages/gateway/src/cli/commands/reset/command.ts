/** `sixtables reset` for parser, help and reference; what it does is imported when it runs. */
import type { Command } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

const inWords: Readonly<Record<string, string>> = {
  project: 'Only this project',
  database: 'Only this database of the project',
  namespace: 'Only this namespace of the database',
}

export const resetCommand: Command = {
  name: 'reset',
  describe: 'Delete all data, or that of a project, a database or a namespace',
  flags: [
    ...targetFlags.map((flag) => {
      const describe = inWords[flag.name]
      return describe === undefined ? flag : { ...flag, describe, default: 'all' }
    }),
    { name: 'yes', alias: 'y', type: 'boolean', describe: 'Do not ask', group: 'Reset' },
  ],
  examples: [
    ['$0 reset', 'everything on the server on 127.0.0.1:8081'],
    ['$0 reset --project p1 --namespace test', 'one namespace of one project'],
  ],
  notes: [
    'Data on disk is asked about first, where a terminal is there: what will be deleted is named. In a script nothing is asked.',
    'Composite indexes stay defined. `DATASTORE_PROJECT_ID` does not count here: without `--project` all projects are emptied.',
  ],
  run: async (flags, io) => (await import('./reset.ts')).reset(flags, io),
}
