/** Flags and help of `sixtables clock`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { serverFlags } from '../../target/target-flags.ts'

export const clockCommand: Command = {
  name: 'clock',
  describe: "Show and move the server's clock",
  commands: [
    {
      name: 'show',
      describe: "Show the server's time",
      flags: serverFlags,
      examples: [['$0 clock show', 'asks the server on 127.0.0.1:8081']],
      run: async (flags, io) => (await import('./clock.ts')).clockShow(flags, io),
    },
    {
      name: 'advance',
      describe: 'Move the clock forward, and run the work that falls due',
      positionals: [{ name: 'duration', describe: 'Duration: 500ms, 90s, 15m, 2h, 7d' }],
      whenMissing: 'say by how much: 500ms, 90s, 15m, 2h, 7d',
      flags: serverFlags,
      examples: [['$0 clock advance 2m', 'open transactions expire']],
      run: async (flags, io) => (await import('./clock.ts')).clockAdvance(flags, io),
    },
    {
      name: 'to',
      describe: 'Move the clock forward to a time',
      positionals: [{ name: 'time', describe: 'Time, such as 2030-01-01T00:00:00Z' }],
      whenMissing: 'write a time like 2030-01-01T00:00:00Z',
      flags: serverFlags,
      examples: [['$0 clock to 2030-01-01T00:00:00Z', 'it never goes back']],
      run: async (flags, io) => (await import('./clock.ts')).clockTo(flags, io),
    },
    {
      name: 'reset',
      describe: 'Set the clock back to real time, or to the time of --clock',
      flags: serverFlags,
      examples: [['$0 clock reset', 'asks the server on 127.0.0.1:8081']],
      run: async (flags, io) => (await import('./clock.ts')).clockReset(flags, io),
    },
  ],
}
