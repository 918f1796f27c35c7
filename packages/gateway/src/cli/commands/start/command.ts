/** Flags and help of `sixtables start`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { startFlags } from './start-flags.ts'

export const startCommand: Command = {
  name: 'start',
  describe: 'Start the emulator (also without a command)',
  positionals: [
    {
      name: 'directory',
      optional: true,
      newFolder: true,
      describe: "The same as --data-dir; for command lines of Google's emulator",
    },
  ],
  flags: startFlags,
  examples: [
    ['$0', 'data in .sixtables, on 127.0.0.1:8081'],
    ['$0 start --testing --port 0', 'in memory, on a free port'],
    ['$0 start --mode legacy --seed 7', 'stale queries, the same in each run'],
  ],
  notes: [
    'A new folder with the name of a flag or a command is refused, as in `sixtables start testing`, where `--testing` is more likely ' +
      'meant; `sixtables start ./testing` makes it.',
  ],
  run: async (flags, io) => (await import('./start.ts')).start(flags, io),
}
