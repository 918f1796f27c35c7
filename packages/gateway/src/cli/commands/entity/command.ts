/** `sixtables get`, `put` and `delete` for parser, help and reference; what they do is imported when they run. */
import type { Command, Positional, Run } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

const key: Positional = { name: 'key', describe: 'ToDo:1 or User:"ada"/ToDo:5, root first' }
const whenMissing = 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'

/** @param pick - the function of entity.ts */
function run(pick: (entity: typeof import('./entity.ts')) => Run): Run {
  return async (flags, io) => pick(await import('./entity.ts'))(flags, io)
}

export const getCommand: Command = {
  name: 'get',
  describe: 'Print one entity',
  positionals: [key],
  whenMissing,
  flags: targetFlags,
  examples: [[`$0 get 'User:"ada"/ToDo:5'`, 'its properties as JSON']],
  notes: [
    'Properties are in the notation of [fixtures](fixtures.md), as `put` takes them. Without such an entity the exit code is 1.',
  ],
  run: run((entity) => entity.getEntity),
}

export const putCommand: Command = {
  name: 'put',
  describe: 'Write one entity, over one that is there',
  positionals: [
    { name: 'key', describe: 'As for get; without its last id or name it is given an id' },
    { name: 'properties', describe: 'A JSON object, typed as in fixtures; - reads it from stdin' },
  ],
  whenMissing: `write a key and its properties, as in sixtables put ToDo:1 '{"done": false}'`,
  whenSurplus: 'the shell sees several words here; put the properties in single quotes',
  flags: targetFlags,
  examples: [
    [`$0 put ToDo:1 '{"title": "look inside", "priority": 5}'`, 'a key with an id'],
    [`$0 put ToDo '{"due": {"$timestamp": "2030-01-01T00:00:00Z"}}'`, 'prints the key that it was given'],
    ['$0 get ToDo:1 | $0 put ToDo:2 -', 'a copy'],
  ],
  run: run((entity) => entity.putEntity),
}

export const deleteCommand: Command = {
  name: 'delete',
  describe: 'Delete entities by their keys',
  positionals: [{ name: 'keys', list: true, describe: 'ToDo:1 User:"ada"/ToDo:5' }],
  whenMissing,
  flags: targetFlags,
  examples: [['$0 delete ToDo:1 ToDo:2', 'those that are not there count as deleted']],
  run: run((entity) => entity.deleteEntities),
}
