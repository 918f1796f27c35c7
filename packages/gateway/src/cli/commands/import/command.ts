/** Flags and help of `sixtables import`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { transferFlags } from '../../target/transfer-flags.ts'

export const importCommand: Command = {
  name: 'import',
  describe: 'Read a managed export into a database',
  positionals: [{ name: 'metadata-file', describe: 'The .overall_export_metadata file of the export, or its folder' }],
  flags: transferFlags,
  whenMissing: 'name the metadata file of an export, or its folder',
  examples: [
    ['$0 import backup', 'into the server on 127.0.0.1:8081'],
    ['$0 import backup --data-dir .sixtables', 'into a folder that no server uses'],
  ],
  run: async (flags, io) => (await import('./import.ts')).importDatabase(flags, io),
}
