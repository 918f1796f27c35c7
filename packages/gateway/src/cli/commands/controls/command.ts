/** `sixtables faults`, `clock` and `findings` for parser, help and reference; what they do is imported when they run. */
import type { Command, Flag, Run } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

/** @param pick - the function of controls.ts */
function run(pick: (controls: typeof import('./controls.ts')) => Run): Run {
  return async (flags, io) => pick(await import('./controls.ts'))(flags, io)
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
      run: run((controls) => controls.faultsList),
    },
    {
      name: 'add',
      describe: 'Add a fault, and print its id',
      flags: [...serverFlags, ...faultFlags],
      examples: [
        ['$0 faults add --method commit --kind ToDo --code ABORTED --times 1', 'the next commit of a ToDo conflicts'],
        ['$0 faults add --latency-ms 200', 'every call of the data API takes 200 ms longer'],
      ],
      run: run((controls) => controls.faultsAdd),
    },
    {
      name: 'clear',
      describe: 'End one fault, or all',
      positionals: [{ name: 'id', describe: 'As list shows it', optional: true }],
      flags: serverFlags,
      examples: [['$0 faults clear', 'all of them']],
      run: run((controls) => controls.faultsClear),
    },
  ],
}

export const clockCommand: Command = {
  name: 'clock',
  describe: "Show and move the server's clock",
  commands: [
    {
      name: 'show',
      describe: 'What time it is for the server',
      flags: serverFlags,
      examples: [['$0 clock show', 'asks the server on 127.0.0.1:8081']],
      run: run((controls) => controls.clockShow),
    },
    {
      name: 'advance',
      describe: 'Move it on; what falls due on the way is done',
      positionals: [{ name: 'duration', describe: '500ms, 90s, 15m, 2h, 7d' }],
      whenMissing: 'say by how much: 500ms, 90s, 15m, 2h, 7d',
      flags: serverFlags,
      examples: [['$0 clock advance 2m', 'open transactions expire']],
      run: run((controls) => controls.clockAdvance),
    },
    {
      name: 'to',
      describe: 'Move it on to a time',
      positionals: [{ name: 'time', describe: '2030-01-01T00:00:00Z' }],
      whenMissing: 'write a time like 2030-01-01T00:00:00Z',
      flags: serverFlags,
      examples: [['$0 clock to 2030-01-01T00:00:00Z', 'it never goes back']],
      run: run((controls) => controls.clockTo),
    },
    {
      name: 'reset',
      describe: 'Back to real time, or to where it would stand',
      flags: serverFlags,
      examples: [['$0 clock reset', 'asks the server on 127.0.0.1:8081']],
      run: run((controls) => controls.clockReset),
    },
  ],
}

export const findingsCommand: Command = {
  name: 'findings',
  describe: 'Patterns of use that would cost at scale, in words',
  flags: serverFlags,
  examples: [['$0 findings', 'what the server has seen so far']],
  notes: ['[Findings](findings.md) explains each of them.'],
  run: run((controls) => controls.findings),
}
