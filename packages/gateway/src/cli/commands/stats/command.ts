/** Flags and help of `sixtables stats`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

export const statsCommand: Command = {
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
}
