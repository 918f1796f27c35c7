/** Flags and help of `sixtables record`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { serverFlags } from '../../target/target-flags.ts'

const recording = flagTable(`
Recording
  values  | switch | Entities and the values of filters too; without it a file has keys, shapes and sizes
  seconds | text   | Length of the recording | until Ctrl-C
  force   | switch | Replacement of a file that is there already
`)

export const recordCommand: Command = {
  name: 'record',
  describe: 'Record the calls that a running server gets, for sixtables-lab replay',
  positionals: [{ name: 'file', describe: 'File to write, one line of JSON for each call' }],
  whenMissing: 'record needs the name of a file: sixtables record calls.jsonl',
  flags: [...serverFlags.filter(({ name }) => name !== 'json'), ...recording],
  examples: [
    ['$0 record calls.jsonl', 'until Ctrl-C'],
    ['$0 record calls.jsonl --seconds 60', 'one minute'],
    ['$0 record calls.jsonl --values', 'with entities and the values of filters'],
  ],
  notes: [
    'A recording has the keys of all calls: do not publish one whose keys are secret. [Recordings](recordings.md) describes the ' +
      'lines and the replay. `sixtables start --record FILE` records from the first call on.',
  ],
  run: async (given, io) => (await import('./record.ts')).record(given, io),
}
