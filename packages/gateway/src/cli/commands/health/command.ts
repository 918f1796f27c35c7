/** Flags and help of `sixtables health`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { addressFlags } from '../../target/target-flags.ts'

const group = 'Health'

export const healthCommand: Command = {
  name: 'health',
  describe: 'Check whether a server answers: exit code 0 if it does, 1 if it does not',
  flags: [
    ...addressFlags(group),
    { name: 'wait', type: 'string', describe: 'Maximum wait for the answer in seconds', default: '0', group },
    { name: 'json', type: 'boolean', describe: 'JSON output', group },
  ],
  examples: [
    ['$0 health', 'asks the server on 127.0.0.1:8081'],
    ['$0 health --wait 10 && npm test', 'runs the tests as soon as the server answers'],
  ],
  run: async (flags, io) => (await import('./health.ts')).health(flags, io),
}
