/** Flags and help of `sixtables findings`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

export const findingsCommand: Command = {
  name: 'findings',
  describe: 'List usage patterns that would be expensive at scale',
  flags: serverFlags,
  examples: [['$0 findings', 'the findings of the server on 127.0.0.1:8081']],
  notes: ['[Findings](findings.md) explains each finding.'],
  run: async (flags, io) => (await import('./findings.ts')).findings(flags, io),
}
