/** Flags and help of `sixtables dump`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { transferFlags } from '../../target/transfer-flags.ts'

export const dumpCommand: Command = {
  name: 'dump',
  describe: 'Print entities as a fixture, the format that seed reads',
  flags: [
    ...transferFlags.map((flag) => (flag.name === 'json' ? { ...flag, describe: 'The same as --format json' } : flag)),
    ...flagTable(`
What is moved
  format | json yaml csv | Format of the output | yaml
`),
  ],
  examples: [
    ['$0 dump > all.yaml', 'all namespaces and kinds of the server on 127.0.0.1:8081'],
    ['$0 dump --kind Task --format csv > Task.csv', 'for a spreadsheet'],
  ],
  notes: ['For large databases [export and import](export.md) are faster, and the export is a consistent snapshot.'],
  run: async (flags, io) => (await import('./dump.ts')).dump(flags, io),
}
