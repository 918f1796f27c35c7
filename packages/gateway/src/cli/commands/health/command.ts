/** Flags and help of `sixtables health`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { addressFlags } from '../../target/target-flags.ts'

export const healthCommand: Command = {
  name: 'health',
  describe: 'Check whether a server answers: exit code 0 if it does, 1 if it does not',
  flags: [
    ...addressFlags('Health'),
    ...flagTable(`
Health
  wait | text   | Maximum wait for the answer in seconds | 0
  json | switch | JSON output
`),
  ],
  examples: [
    ['$0 health', 'asks the server on 127.0.0.1:8081'],
    ['$0 health --wait 10 && npm test', 'runs the tests as soon as the server answers'],
  ],
  run: async (flags, io) => (await import('./health.ts')).health(flags, io),
}
