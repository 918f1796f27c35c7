/** The project and the database that the flags of a command name. */
import { databaseIdOf } from '../../convert/parameters.ts'
import type { Flags } from '../framework/command.ts'
import { last, text } from '../framework/flag-values.ts'

export const defaultProject = 'demo'

/** The project of `--project`, else of DATASTORE_PROJECT_ID or its old name DATASTORE_DATASET, else the default. */
export function projectOf(flags: Flags, env: Readonly<Record<string, string | undefined>>): string {
  const named = text(flags, 'project') ?? text(flags, 'project-id')
  return named ?? (env['DATASTORE_PROJECT_ID'] || env['DATASTORE_DATASET'] || defaultProject)
}

/** The database of `--database`; empty for the default one. */
export function databaseOf(flags: Flags): string {
  return databaseIdOf(String(last(flags['database']) ?? ''))
}
