/** Flags and help of `sixtables export`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { transferFlags } from '../../target/transfer-flags.ts'

export const exportCommand: Command = {
  name: 'export',
  describe: 'Write a database to files of the managed export format',
  positionals: [{ name: 'dir', describe: 'New folder for the export' }],
  flags: transferFlags,
  whenMissing: 'name the folder to write, as in sixtables export backup',
  examples: [
    ['$0 export backup', 'asks the server on 127.0.0.1:8081'],
    ['$0 export tasks --kind Task --data-dir .sixtables', 'opens a folder that no server uses'],
  ],
  run: async (flags, io) => (await import('./export.ts')).exportDatabase(flags, io),
}
