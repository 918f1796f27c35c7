/** Flags and help of `sixtables top`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { serverFlags } from '../../target/target-flags.ts'

const what = flagTable(`
Top
  interval | text   | Seconds between two updates | 1
  span     | text   | Time span of the heatmap in minutes | 10
  table    | text   | Table to show, such as EntitiesByPropertyAsc | all
  once     | switch | One report as text, then exit; also in a terminal
`)

export const topCommand: Command = {
  name: 'top',
  describe: 'Watch the heat of a running server: key ranges, tablets, entity groups, findings',
  flags: [...serverFlags, ...what],
  examples: [
    ['$0 top', 'live in the terminal; q ends it'],
    ['$0 top --table EntitiesByKind --span 60', 'one table over the last hour'],
    ['$0 top --once', 'one report as text, for a file or a pipe'],
    ['$0 top --json', 'one report as JSON'],
  ],
  notes: [
    'If the output is not a terminal, one report is printed as text. `NO_COLOR` turns colours off. Keys: `q` quits, `Tab` ' +
      'goes to the next table, `+` and `-` change the time span, the arrows, `PageUp`, `PageDown`, `Home` and `End` scroll, `p` pauses, ' +
      '`c` asks for a major compaction.',
  ],
  run: async (given, io) => (await import('./top.ts')).top(given, io),
}
