/**
 * Names of the tables, for help and messages, which must not load the engine. test/cli/query-commands.test.ts compares them with the engine's.
 */
export const tableNames: readonly string[] = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'EntitiesByCompositeProperty',
  'IdSequences',
  'Log',
  'Metadata',
]

/** The names in words: the six tables of entities, indexes and ids, and two more. */
export const tablesInWords: string = `${tableNames.slice(0, 6).join(', ')}; beside these six, Log and Metadata`
