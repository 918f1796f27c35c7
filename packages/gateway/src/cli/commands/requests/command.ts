/** Flags and help of `sixtables requests`; `run` imports the code. */
import type { Command, Flag } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

const group = 'Which requests'

const flags: readonly Flag[] = [
  ...serverFlags,
  { name: 'follow', type: 'boolean', describe: 'Calls as they come, until Ctrl-C; the server records as long', group },
  { name: 'method', type: 'string', describe: 'Methods, such as commit,lookup', group },
  { name: 'kind', type: 'string', describe: 'Kind that the call names', group },
  {
    name: 'code',
    type: 'string',
    describe: 'Codes of the answer, such as OK or ABORTED; `error` is all but OK',
    group,
  },
  { name: 'slower-than', type: 'string', describe: 'Minimum duration in milliseconds', group },
  {
    name: 'transaction',
    type: 'string',
    describe: 'Id of a transaction or its last digits; `any` for all in transactions',
    group,
  },
  { name: 'project', type: 'string', describe: 'Project', group },
  { name: 'database', type: 'string', describe: 'Database; (default) is the default one', group },
  { name: 'namespace', type: 'string', describe: 'Namespace that the call names', group },
  { name: 'limit', type: 'string', describe: 'Maximum number of calls, the newest', default: '100', group },
]

export const requestsCommand: Command = {
  name: 'requests',
  describe: 'Show the calls that a running server gets, or one of them in detail',
  positionals: [
    { name: 'id', describe: 'Number of a call, as the list has it: its messages, plan and rows', optional: true },
  ],
  flags,
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
}
