/** Flags and help of `sixtables requests`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { serverFlags } from '../../target/target-flags.ts'

const which = flagTable(`
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
`)

export const requestsCommand: Command = {
  name: 'requests',
  describe: 'Show the calls that a running server gets, or one of them in detail',
  positionals: [
    { name: 'id', describe: 'Number of a call, as the list has it: its messages, plan and rows', optional: true },
  ],
  flags: [...serverFlags, ...which],
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
