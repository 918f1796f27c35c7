/** Flags and help of `sixtables reset`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { targetFlags } from '../../target/target-flags.ts'

const inWords: Readonly<Record<string, string>> = {
  project: 'Only this project; DATASTORE_PROJECT_ID has no effect',
  database: 'Only this database of the project',
  namespace: 'Only this namespace of the database',
}

export const resetCommand: Command = {
  name: 'reset',
  describe: 'Delete all data, or the data of a project, a database or a namespace',
  flags: [
    ...targetFlags.map((flag) => {
      const describe = inWords[flag.name]
      return describe === undefined ? flag : { ...flag, describe, default: 'all' }
    }),
    ...flagTable(`
Reset
  yes -y | switch | No question before the data is deleted; without a terminal there is none
`),
  ],
  examples: [
    ['$0 reset', 'everything on the server on 127.0.0.1:8081'],
    ['$0 reset --project p1 --namespace test', 'one namespace of one project'],
  ],
  notes: [
    'In a terminal, the command names the data on disk or in a Bigtable that it will delete and asks first. In a script it does not ask.',
    'Composite indexes stay defined. `DATASTORE_PROJECT_ID` has no effect here: without `--project`, all projects are deleted.',
  ],
  run: async (flags, io) => (await import('./reset.ts')).reset(flags, io),
}
