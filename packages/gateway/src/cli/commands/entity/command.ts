/** Flags and help of `sixtables get`, `put` and `delete`; `run` imports the code. */
import type { Command, Positional } from '../../framework/command.ts'
import { targetFlags } from '../../target/target-flags.ts'

const key: Positional = { name: 'key', describe: 'Key, root first: ToDo:1 or User:"ada"/ToDo:5' }
const whenMissing = 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'

export const getCommand: Command = {
  name: 'get',
  describe: 'Print one entity',
  positionals: [key],
  whenMissing,
  flags: targetFlags,
  examples: [[`$0 get 'User:"ada"/ToDo:5'`, 'its properties as JSON']],
  notes: [
    'Properties are printed in the notation of [fixtures](fixtures.md), which `put` reads. If there is no such entity, the exit code is 1.',
  ],
  run: async (flags, io) => (await import('./entity.ts')).getEntity(flags, io),
}

export const putCommand: Command = {
  name: 'put',
  describe: 'Write one entity; replaces an entity with the same key',
  positionals: [
    { name: 'key', describe: 'Key as for get; without the last id or name, the server assigns an id' },
    { name: 'properties', describe: 'JSON object, with the types of fixtures; - for stdin' },
  ],
  whenMissing: `write a key and its properties, as in sixtables put ToDo:1 '{"done": false}'`,
  whenSurplus: 'the shell sees several words here; put the properties in single quotes',
  flags: targetFlags,
  examples: [
    [`$0 put ToDo:1 '{"title": "look inside", "priority": 5}'`, 'a key with an id'],
    [`$0 put ToDo '{"due": {"$timestamp": "2030-01-01T00:00:00Z"}}'`, 'prints the key that it was given'],
    ['$0 get ToDo:1 | $0 put ToDo:2 -', 'a copy'],
  ],
  run: async (flags, io) => (await import('./entity.ts')).putEntity(flags, io),
}

export const deleteCommand: Command = {
  name: 'delete',
  describe: 'Delete entities by their keys',
  positionals: [{ name: 'keys', list: true, describe: 'Keys: ToDo:1 User:"ada"/ToDo:5' }],
  whenMissing,
  flags: targetFlags,
  examples: [['$0 delete ToDo:1 ToDo:2', 'absent entities are not an error']],
  run: async (flags, io) => (await import('./entity.ts')).deleteEntities(flags, io),
}
