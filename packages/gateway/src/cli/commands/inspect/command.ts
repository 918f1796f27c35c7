/** Flags and help of `sixtables inspect`; `run` imports the code. */
import type { Command, Positional } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { placeFlags, targetFlags } from '../../target/target-flags.ts'
import { tablesInWords } from './table-names.ts'

const key: Positional = { name: 'key', describe: 'Key, root first: ToDo:1 or User:"ada"/ToDo:5' }
const whenMissing = 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'

export const inspectCommand: Command = {
  name: 'inspect',
  describe: 'Show rows, log records and pending commits',
  notes: [
    'The server answers the same questions in JSON under `/emulator/inspect/`, such as ' +
      '`GET /emulator/inspect/rows?project=demo&key=ToDo:1`.',
    'Words are cut at 10,000 characters, and values above 16 KiB are printed as a number of bytes. `--json` has all of them.',
  ],
  commands: [
    {
      name: 'rows',
      describe: 'Show the rows of one entity in all six tables',
      positionals: [key],
      whenMissing,
      flags: targetFlags,
      examples: [['$0 inspect rows ToDo:1', 'key of kind ToDo with id 1']],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('rows', flags, io),
    },
    {
      name: 'table',
      describe: 'Show the rows of one table in key order',
      positionals: [{ name: 'table', describe: tablesInWords }],
      whenMissing: `a table is missing: ${tablesInWords}`,
      flags: [
        ...placeFlags,
        ...flagTable(`
Range
  limit | text | Maximum number of rows, up to 1000 | 100
  after | text | Row key in hexadecimal; the output starts after it
  until | text | Row key in hexadecimal; the output ends before it
`),
      ],
      examples: [
        ['$0 inspect table EntitiesByPropertyAsc --limit 20', 'asks the server on 127.0.0.1:8081'],
        ['$0 inspect table Entities --data-dir .sixtables --json', 'row keys in hexadecimal, for --after and --until'],
      ],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('table', flags, io),
    },
    {
      name: 'log',
      describe: 'Show the log records of the entity group of a key, newest last',
      positionals: [key],
      whenMissing,
      flags: targetFlags,
      examples: [[`$0 inspect log 'User:"ada"/ToDo:5'`, 'the group of User:"ada"']],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('log', flags, io),
    },
    {
      name: 'pending',
      describe: 'Show the commits of all databases that are not wholly applied',
      flags: placeFlags,
      examples: [['$0 inspect pending', 'asks the server on 127.0.0.1:8081']],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('pending', flags, io),
    },
    {
      name: 'applied',
      describe: 'The latest steps of applying, in all databases, and why each was taken',
      flags: placeFlags,
      examples: [['$0 inspect applied', 'asks the server on 127.0.0.1:8081']],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('applied', flags, io),
    },
    {
      name: 'databases',
      describe: 'Show all databases and their settings',
      flags: placeFlags,
      examples: [['$0 inspect databases', 'asks the server on 127.0.0.1:8081']],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('databases', flags, io),
    },
    {
      name: 'release',
      describe: 'Apply the pending commits in the entity group of a key, or all of them',
      positionals: [{ ...key, optional: true }],
      flags: [
        ...targetFlags,
        ...flagTable(`
Release
  milestone | A B | Last milestone: A writes the entity row, B also the index rows | B
`),
      ],
      examples: [['$0 inspect release ToDo:1 --milestone A', 'entity row now, index rows later']],
      run: async (flags, io) => (await import('./inspect.ts')).inspectStore('release', flags, io),
    },
  ],
}
