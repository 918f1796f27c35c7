/** `sixtables ids` for parser, help and reference; what it does is imported when it runs. */
import type { Command, Positional, Run } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

const kind: Positional = { name: 'kind', describe: 'ToDo, or under a parent User:"ada"/ToDo' }

/** @param pick - the function of ids.ts */
function run(pick: (ids: typeof import('./ids.ts')) => Run): Run {
  return async (flags, io) => pick(await import('./ids.ts'))(flags, io)
}

export const idsCommand: Command = {
  name: 'ids',
  describe: 'Show what ids are given next, reserve ids, take ranges, permute old numbers',
  notes: [
    'Counters are of a kind and parent in the sequential space, and of the database in the scattered one ' +
      '([Ids](../architecture/ids.md)). The server answers the same over HTTP ([HTTP and gRPC](http.md)).',
  ],
  commands: [
    {
      name: 'next',
      describe: 'The ids that are given next; nothing moves',
      positionals: [kind],
      flags: targetFlags,
      examples: [['$0 ids next ToDo', 'asks the server on 127.0.0.1:8081']],
      run: run((ids) => ids.idsNext),
    },
    {
      name: 'reserve',
      describe: 'Keep the ids in these keys from being given',
      positionals: [{ name: 'keys', list: true, describe: 'ToDo:7 User:"ada"/ToDo:9' }],
      flags: targetFlags,
      examples: [['$0 ids reserve ToDo:7', 'moves the counter past 7']],
      run: run((ids) => ids.idsReserve),
    },
    {
      name: 'range',
      describe: 'Take a range of ids out of what is given, and say what is in it',
      positionals: [kind, { name: 'start', describe: 'First id, 1 or above' }, { name: 'end', describe: 'Last id' }],
      flags: targetFlags,
      examples: [['$0 ids range ToDo 1 5000', 'EMPTY, CONTENTION or COLLISION']],
      run: run((ids) => ids.idsRange),
    },
    {
      name: 'allocate',
      describe: 'So many sequential ids in one piece, or all that are free up to one',
      positionals: [kind],
      flags: [
        ...targetFlags,
        { name: 'size', type: 'string', describe: 'How many ids', group: 'Allocate' },
        { name: 'max', type: 'string', describe: 'The highest id', group: 'Allocate' },
      ],
      examples: [['$0 ids allocate ToDo --size 100', 'the next hundred']],
      run: run((ids) => ids.idsAllocate),
    },
    {
      name: 'permute',
      describe: 'New keys for rows that were numbered 1, 2, 3 …: spread over the key range, and reversible',
      notes: [
        'Prints the old and the new id of each, with a tab between. It asks no server. The same secret and size always give the ' +
          'same ids; without them the way back is lost ([Moving keys that were numbers](../architecture/ids.md#moving-keys-that-were-numbers)).',
      ],
      positionals: [
        { name: 'ids', list: true, describe: 'Numbers, or names with --names --reverse; - reads them from stdin' },
      ],
      flags: [
        { name: 'secret', type: 'string', describe: 'Text that chooses the permutation', group: 'Permutation' },
        {
          name: 'size',
          type: 'string',
          describe: 'Number of ids: each of 1 to this becomes another of them',
          group: 'Permutation',
        },
        { name: 'names', type: 'boolean', describe: 'Names of 13 characters instead of ids', group: 'Permutation' },
        { name: 'reverse', type: 'boolean', describe: 'From new keys back to the old numbers', group: 'Permutation' },
        { name: 'json', type: 'boolean', describe: 'JSON instead of text', group: 'Output' },
      ],
      examples: [
        ['$0 ids permute 1 2 3 --secret move-2026 --size 1000000', 'new ids between 1 and 1,000,000'],
        ['seq 1 5000 | $0 ids permute - --secret move-2026 --names', 'a name for each of 5,000 rows'],
      ],
      run: async (flags, io) => (await import('./permute.ts')).idsPermute(flags, io),
    },
  ],
}
