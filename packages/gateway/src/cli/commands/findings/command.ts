/** `sixtables findings` for parser, help and reference; what it does is imported when it runs. */
import type { Command } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

export const findingsCommand: Command = {
  name: 'findings',
  describe: 'Patterns of use that would cost at scale, in words',
  flags: serverFlags,
  examples: [['$0 findings', 'what the server has seen so far']],
  notes: ['[Findings](findings.md) explains each of them.'],
  run: async (flags, io) => (await import('./findings.ts')).findings(flags, io),
}
