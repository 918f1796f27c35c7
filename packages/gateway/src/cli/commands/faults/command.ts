/** `sixtables faults` for parser, help and reference; what it does is imported when it runs. */
import type { Command, Flag, Run } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

/** @param pick - the function of faults.ts */
function run(pick: (faults: typeof import('./faults.ts')) => Run): Run {
  return async (flags, io) => pick(await import('./faults.ts'))(flags, io)
}

const which = 'Which calls'
const effect = 'When, and what'

const faultFlags: readonly Flag[] = [
  {
    name: 'method',
    type: 'list',
    describe: 'lookup, runQuery, commit, …; may be repeated',
    default: 'all',
    group: which,
  },
  { name: 'project', type: 'string', describe: 'Calls of this project', default: 'all', group: which },
  { name: 'database', type: 'string', describe: 'Calls of this database', default: 'all', group: which },
  { name: 'namespace', type: 'string', describe: 'Calls that name an entity of it', default: 'all', group: which },
  { name: 'kind', type: 'string', describe: 'Calls that name an entity of it', default: 'all', group: which },
  { name: 'key', type: 'string', describe: 'Calls that name it: User:"ada"/ToDo:5', default: 'all', group: which },
  { name: 'skip', type: 'string', describe: 'Matching calls that go through first', default: '0', group: effect },
  { name: 'times', type: 'string', describe: 'Calls after which it is over', default: 'any number', group: effect },
  { name: 'share', type: 'string', describe: 'Share of matching calls, 0 to 1', default: '1', group: effect },
  { name: 'seed', type: 'string', describe: 'From which the share is drawn', default: '1', group: effect },
  { name: 'latency-ms', type: 'string', describe: 'Delay in milliseconds', group: effect },
  { name: 'code', type: 'string', describe: 'Answer of the call: ABORTED, UNAVAILABLE, …', group: effect },
  { name: 'message', type: 'string', describe: 'Message beside the code', group: effect },
  { name: 'hold-apply', type: 'boolean', describe: 'Hold matching commits between commit and apply', group: effect },
]

export const faultsCommand: Command = {
  name: 'faults',
  describe: 'Make calls fail or wait on purpose',
  notes: ['The fields are those of [faults over HTTP](http.md#faults-and-the-clock).'],
  commands: [
    {
      name: 'list',
      describe: 'Faults in force, with the calls that they matched and hit',
      flags: serverFlags,
      examples: [['$0 faults list', 'asks the server on 127.0.0.1:8081']],
      run: run((faults) => faults.faultsList),
    },
    {
      name: 'add',
      describe: 'Add a fault, and print its id',
      flags: [...serverFlags, ...faultFlags],
      examples: [
        ['$0 faults add --method commit --kind ToDo --code ABORTED --times 1', 'the next commit of a ToDo conflicts'],
        ['$0 faults add --latency-ms 200', 'every call of the data API takes 200 ms longer'],
      ],
      run: run((faults) => faults.faultsAdd),
    },
    {
      name: 'clear',
      describe: 'End one fault, or all',
      positionals: [{ name: 'id', describe: 'As list shows it', optional: true }],
      flags: serverFlags,
      examples: [['$0 faults clear', 'all of them']],
      run: run((faults) => faults.faultsClear),
    },
  ],
}
