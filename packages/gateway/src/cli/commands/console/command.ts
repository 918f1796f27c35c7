/** Flags and help of `sixtables console`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { addressFlags } from '../../target/target-flags.ts'

export const consoleCommand: Command = {
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
}
