/** Commands of the older of Google's emulators, which its start scripts use. */
import type { Command } from '../../framework/command.ts'

/** `create [--project_id=P] DIR` made a folder for `start`, which makes its own here. */
export const createCommand: Command = {
  name: 'create',
  hidden: true,
  describe: 'Create the data folder; start does that too',
  positionals: [{ name: 'directory', describe: 'Folder to create' }],
  whenMissing: 'name the folder to make; or leave create out: sixtables start makes its own folder',
  flags: [{ name: 'project-id', type: 'string', describe: 'Not needed', group: 'Create', hidden: true }],
  examples: [['$0 create data && $0 start data', "as Google's emulator is started"]],
  run: async (flags, io) => (await import('./create.ts')).create(flags, io),
}
