/** The commands `start` and `create`, as data; `run` imports the code. */
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

/** Google's older emulator made a folder for `start`, which makes its own here. */
export const createCommand: Command = {
  name: 'create',
  hidden: true,
  describe: 'Create the data folder; start does that too',
  positionals: [{ name: 'directory', describe: 'Folder to create' }],
  whenMissing: 'name the folder to make; or leave create out: sixtables start makes its own folder',
  flags: [{ name: 'project-id', type: 'string', describe: 'Not needed', group: 'Create', hidden: true }],
  examples: [['$0 create data && $0 start data', "as Google's emulator is started"]],
  run: async (flags, io) => (await import('./start.ts')).create(flags, io),
}
