/**
 * The tables by name, for help and mistakes, which must not load the engine. That they are the engine's is tested
 * (test/cli/query-commands.test.ts).
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

/** Beside the six tables of entities, indexes and ids, a store has two of its own. */
export const tablesInWords: string = `${tableNames.slice(0, 6).join(', ')}; beside these six, Log and Metadata`
