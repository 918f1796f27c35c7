/** The commands that watch a server and look into a store, in the order of help and reference. Only `run` imports a command's code. */
import { type Command, flagTable, type Run } from '../framework/command.ts'
import {
  addressFlags,
  key,
  keyMissing,
  placeFlags,
  serverFlags,
  storeFlags,
  tablesInWords,
  targetFlags,
} from '../target/target-flags.ts'
import type { What } from './inspect/inspect.ts'
import { findingsCommand } from './server-questions.ts'

function inspecting(
  name: What,
  describe: string,
  others: Pick<Command, 'positionals' | 'whenMissing' | 'flags' | 'examples'>,
): Command {
  const run: Run = async (flags, io) => (await import('./inspect/inspect.ts')).inspectStore(name, flags, io)
  return { name, describe, ...others, run }
}

export const watchCommands: readonly Command[] = [
  {
    name: 'console',
    describe: 'Open the console of a running server in the browser',
    flags: [
      ...addressFlags('Server'),
      ...flagTable(`
Server
  open | switch | Start of the browser; --no-open prints the address only | true
`),
    ],
    examples: [
      ['$0 console', 'opens the console of the server on 127.0.0.1:8081'],
      ['$0 console --no-open', 'prints its address'],
    ],
    run: async (flags, io) => (await import('./console.ts')).openConsole(flags, io),
  },
  {
    name: 'top',
    describe: 'Watch the heat of a running server: key ranges, tablets, entity groups, findings',
    flags: [
      ...serverFlags,
      ...flagTable(`
Top
  interval | text   | Seconds between two updates | 1
  span     | text   | Time span of the heatmap in minutes | 10
  table    | text   | Table to show, such as EntitiesByPropertyAsc | all
  once     | switch | One report as text, then exit; also in a terminal
`),
    ],
    examples: [
      ['$0 top', 'live in the terminal; q ends it'],
      ['$0 top --table EntitiesByKind --span 60', 'one table over the last hour'],
      ['$0 top --once', 'one report as text, for a file or a pipe'],
      ['$0 top --json', 'one report as JSON'],
    ],
    notes: [
      'If the output is not a terminal, one report is printed as text. `NO_COLOR` turns colours off. Keys: `q` quits, `Tab` ' +
        'goes to the next table, `+` and `-` change the time span, the arrows, `PageUp`, `PageDown`, `Home` and `End` scroll, `p` pauses, ' +
        '`c` asks for a major compaction.',
    ],
    run: async (given, io) => (await import('./top/top.ts')).top(given, io),
  },
  findingsCommand,
  {
    name: 'stats',
    describe: 'Entities, bytes and index rows of each kind',
    flags: targetFlags.map((flag) =>
      flag.name === 'namespace' ? { ...flag, describe: 'Namespace, "" for the default one', default: 'all' } : flag,
    ),
    examples: [
      ['$0 stats', 'asks the server on 127.0.0.1:8081'],
      ['$0 stats --data-dir .sixtables --json', 'opens a folder that no server uses'],
    ],
    run: async (flags, io) => (await import('./stats.ts')).stats(flags, io),
  },
  {
    name: 'requests',
    describe: 'Show the calls that a running server gets, or one of them in detail',
    positionals: [
      { name: 'id', describe: 'Number of a call, as the list has it: its messages, plan and rows', optional: true },
    ],
    flags: [
      ...serverFlags,
      ...flagTable(`
Which requests
  follow      | switch | Calls as they come, until Ctrl-C; the server records as long
  text        | text   | Text in method, code, message, key, kinds, namespaces or transaction
  method      | text   | Methods, such as commit,lookup
  kind        | text   | Kind that the call names
  code        | text   | Codes of the answer, such as OK or ABORTED; \`error\` is all but OK
  slower-than | text   | Minimum duration in milliseconds
  transaction | text   | Id of a transaction or its last digits; \`any\` for all in transactions
  project     | text   | Project
  database    | text   | Database; (default) is the default one
  namespace   | text   | Namespace that the call names
  limit       | text   | Maximum number of calls, the newest | 100
`),
    ],
    examples: [
      ['$0 requests --follow', 'each call as it comes'],
      ['$0 requests --follow --code error', 'those that fail'],
      ['$0 requests --method runQuery --slower-than 50', 'slow queries among the newest calls'],
      ['$0 requests --transaction any', 'the calls of transactions, with who waited for whom'],
      ['$0 requests 17', 'request and answer as JSON, plan, rows of each table'],
      ['$0 requests --follow --json', 'a line of JSON for each call'],
    ],
    notes: [
      'A server keeps its newest 1,000 calls while `sixtables requests --follow` or the console watches, or from the start on with ' +
        '`sixtables start --requests`. `sixtables record` writes all calls to a file.',
    ],
    run: async (given, io) => (await import('./requests.ts')).requests(given, io),
  },
  {
    name: 'record',
    describe: 'Record the calls that a running server gets, for sixtables-lab replay',
    positionals: [{ name: 'file', describe: 'File to write, one line of JSON for each call' }],
    whenMissing: 'record needs the name of a file: sixtables record calls.jsonl',
    flags: [
      ...serverFlags.filter(({ name }) => name !== 'json'),
      ...flagTable(`
Recording
  values  | switch | Entities and the values of filters too; without it a file has keys, shapes and sizes
  seconds | text   | Length of the recording | until Ctrl-C
  force   | switch | Replacement of a file that is there already
`),
    ],
    examples: [
      ['$0 record calls.jsonl', 'until Ctrl-C'],
      ['$0 record calls.jsonl --seconds 60', 'one minute'],
      ['$0 record calls.jsonl --values', 'with entities and the values of filters'],
    ],
    notes: [
      'A recording has the keys of all calls: do not publish one whose keys are secret. [Recordings](recordings.md) describes the ' +
        'lines and the replay. `sixtables start --record FILE` records from the first call on.',
    ],
    run: async (given, io) => (await import('./record.ts')).record(given, io),
  },
  {
    name: 'inspect',
    describe: 'Show rows, log records and pending commits',
    notes: [
      'The server answers the same questions in JSON under `/emulator/inspect/`, such as ' +
        '`GET /emulator/inspect/rows?project=demo&key=ToDo:1`.',
      'Words are cut at 10,000 characters, and values above 16 KiB are printed as a number of bytes. `--json` has all of them.',
    ],
    commands: [
      inspecting('rows', 'Show the rows of one entity in all six tables', {
        positionals: [key],
        whenMissing: keyMissing,
        flags: targetFlags,
        examples: [['$0 inspect rows ToDo:1', 'key of kind ToDo with id 1']],
      }),
      inspecting('table', 'Show the rows of one table in key order', {
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
          [
            '$0 inspect table Entities --data-dir .sixtables --json',
            'row keys in hexadecimal, for --after and --until',
          ],
        ],
      }),
      inspecting('log', 'Show the log records of the entity group of a key, newest last', {
        positionals: [key],
        whenMissing: keyMissing,
        flags: targetFlags,
        examples: [[`$0 inspect log 'User:"ada"/ToDo:5'`, 'the group of User:"ada"']],
      }),
      inspecting('pending', 'Show the commits of all databases that are not wholly applied', {
        flags: placeFlags,
        examples: [['$0 inspect pending', 'asks the server on 127.0.0.1:8081']],
      }),
      inspecting('applied', 'The latest steps of applying, in all databases, and why each was taken', {
        flags: placeFlags,
        examples: [['$0 inspect applied', 'asks the server on 127.0.0.1:8081']],
      }),
      inspecting('databases', 'Show all databases and their settings', {
        flags: placeFlags,
        examples: [['$0 inspect databases', 'asks the server on 127.0.0.1:8081']],
      }),
      inspecting('release', 'Apply the pending commits in the entity group of a key, or all of them', {
        positionals: [{ ...key, optional: true }],
        flags: [
          ...targetFlags,
          ...flagTable(`
Release
  milestone | A B | Last milestone: A writes the entity row, B also the index rows | B
`),
        ],
        examples: [['$0 inspect release ToDo:1 --milestone A', 'entity row now, index rows later']],
      }),
    ],
  },
  {
    name: 'check',
    describe:
      'Compare entities, index rows, log and markers; exit code 1 if they disagree, 2 if they could not be compared',
    flags: [
      ...placeFlags,
      ...storeFlags,
      ...flagTable(`
Check
  repair | switch | Repair: index rows are written again from the entities
`),
    ],
    examples: [
      ['$0 check', 'asks the server on 127.0.0.1:8081'],
      ['$0 check --data-dir .sixtables --json', 'opens a folder that no server uses'],
      [
        '$0 check --store bigtable --bigtable-project shop --bigtable-instance main',
        'reads a Bigtable at one moment, with its gateways running',
      ],
    ],
    run: async (flags, io) => (await import('./check.ts')).check(flags, io),
  },
]
