/** Flags and help of `sixtables inspect`; `run` imports the code. */
import type { Command, Positional, Run } from '../../framework/command.ts'
import { placeFlags, targetFlags } from '../../target/target-flags.ts'
import { tablesInWords } from './table-names.ts'

const key: Positional = { name: 'key', describe: 'Key, root first: ToDo:1 or User:"ada"/ToDo:5' }
const whenMissing = 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'

/** @param pick - chooses a function of inspect.ts */
function run(pick: (inspect: typeof import('./inspect.ts')) => Run): Run {
  return async (flags, io) => pick(await import('./inspect.ts'))(flags, io)
}

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
      run: run((inspect) => inspect.inspectRows),
    },
    {
      name: 'table',
      describe: 'Show the rows of one table in key order',
      positionals: [{ name: 'table', describe: tablesInWords }],
      whenMissing: `a table is missing: ${tablesInWords}`,
      flags: [
        ...placeFlags,
        {
          name: 'limit',
          type: 'string',
          describe: 'Maximum number of rows, up to 1000',
          default: '100',
          group: 'Range',
        },
        {
          name: 'after',
          type: 'string',
          describe: 'Row key in hexadecimal; the output starts after it',
          group: 'Range',
        },
        {
          name: 'until',
          type: 'string',
          describe: 'Row key in hexadecimal; the output ends before it',
          group: 'Range',
        },
      ],
      examples: [
        ['$0 inspect table EntitiesByPropertyAsc --limit 20', 'asks the server on 127.0.0.1:8081'],
        ['$0 inspect table Entities --data-dir .sixtables --json', 'row keys in hexadecimal, for --after and --until'],
      ],
      run: run((inspect) => inspect.inspectTable),
    },
    {
      name: 'log',
      describe: 'Show the log records of the entity group of a key, newest last',
      positionals: [key],
      whenMissing,
      flags: targetFlags,
      examples: [[`$0 inspect log 'User:"ada"/ToDo:5'`, 'the group of User:"ada"']],
      run: run((inspect) => inspect.inspectLog),
    },
    {
      name: 'pending',
      describe: 'Show the commits of all databases that are not wholly applied',
      flags: placeFlags,
      examples: [['$0 inspect pending', 'asks the server on 127.0.0.1:8081']],
      run: run((inspect) => inspect.inspectPending),
    },
    {
      name: 'applied',
      describe: 'The latest steps of applying, in all databases, and why each was taken',
      flags: placeFlags,
      examples: [['$0 inspect applied', 'asks the server on 127.0.0.1:8081']],
      run: run((inspect) => inspect.inspectApplied),
    },
    {
      name: 'databases',
      describe: 'Show all databases and their settings',
      flags: placeFlags,
      examples: [['$0 inspect databases', 'asks the server on 127.0.0.1:8081']],
      run: run((inspect) => inspect.inspectDatabases),
    },
    {
      name: 'release',
      describe: 'Apply the pending commits in the entity group of a key, or all of them',
      positionals: [{ ...key, optional: true }],
      flags: [
        ...targetFlags,
        {
          name: 'milestone',
          type: 'string',
          describe: 'Last milestone: A writes the entity row, B also the index rows',
          choices: ['A', 'B'],
          default: 'B',
          group: 'Release',
        },
      ],
      examples: [['$0 inspect release ToDo:1 --milestone A', 'entity row now, index rows later']],
      run: run((inspect) => inspect.inspectRelease),
    },
  ],
}
