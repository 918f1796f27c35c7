/** Flags and help of `sixtables faults`; `run` imports the code. */
import type { Command, Flag, Run } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

/** @param pick - chooses a function of faults.ts */
function run(pick: (faults: typeof import('./faults.ts')) => Run): Run {
  return async (flags, io) => pick(await import('./faults.ts'))(flags, io)
}

const which = 'Calls'
const effect = 'Effect'

const faultFlags: readonly Flag[] = [
  {
    name: 'method',
    type: 'list',
    describe: 'Method of the calls: lookup, runQuery, commit, …; repeatable',
    default: 'all',
    group: which,
  },
  { name: 'project', type: 'string', describe: 'Project of the calls', default: 'all', group: which },
  { name: 'database', type: 'string', describe: 'Database of the calls', default: 'all', group: which },
  {
    name: 'namespace',
    type: 'string',
    describe: 'Namespace of an entity that the call names',
    default: 'all',
    group: which,
  },
  { name: 'kind', type: 'string', describe: 'Kind of an entity that the call names', default: 'all', group: which },
  { name: 'key', type: 'string', describe: 'Key that the call names: User:"ada"/ToDo:5', default: 'all', group: which },
  {
    name: 'skip',
    type: 'string',
    describe: 'Number of matching calls without the fault at the start',
    default: '0',
    group: effect,
  },
  {
    name: 'times',
    type: 'string',
    describe: 'Number of calls with the fault, after which it ends',
    default: 'any number',
    group: effect,
  },
  {
    name: 'share',
    type: 'string',
    describe: 'Share of matching calls that get the fault, 0 to 1',
    default: '1',
    group: effect,
  },
  { name: 'seed', type: 'string', describe: 'Seed of the random choice for --share', default: '1', group: effect },
  { name: 'latency-ms', type: 'string', describe: 'Delay in milliseconds', group: effect },
  { name: 'code', type: 'string', describe: 'Error code of the answer: ABORTED, UNAVAILABLE, …', group: effect },
  { name: 'message', type: 'string', describe: 'Error message, with --code', group: effect },
  {
    name: 'hold-apply',
    type: 'boolean',
    describe: 'Delay of apply for matching commits, until `inspect release`',
    group: effect,
  },
]

export const faultsCommand: Command = {
  name: 'faults',
  describe: 'Make calls fail or wait on purpose',
  notes: ['[Faults over HTTP](http.md#faults-and-the-clock) explains the fields.'],
  commands: [
    {
      name: 'list',
      describe: 'List the active faults, with the numbers of calls that matched and that failed',
      flags: serverFlags,
      examples: [['$0 faults list', 'asks the server on 127.0.0.1:8081']],
      run: run((faults) => faults.faultsList),
    },
    {
      name: 'add',
      describe: 'Add a fault and print its id',
      flags: [...serverFlags, ...faultFlags],
      examples: [
        ['$0 faults add --method commit --kind ToDo --code ABORTED --times 1', 'the next commit of a ToDo conflicts'],
        ['$0 faults add --latency-ms 200', 'every call of the data API takes 200 ms longer'],
      ],
      run: run((faults) => faults.faultsAdd),
    },
    {
      name: 'clear',
      describe: 'Remove one fault, or all',
      positionals: [{ name: 'id', describe: 'Id of the fault, from faults list', optional: true }],
      flags: serverFlags,
      examples: [['$0 faults clear', 'all of them']],
      run: run((faults) => faults.faultsClear),
    },
  ],
}
