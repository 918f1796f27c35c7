/** The project and the database of a command. */
import { databaseIdOf } from '../../convert/parameters.ts'
import type { Flags } from '../framework/command.ts'
import { last, text } from '../framework/flag-values.ts'

export const defaultProject = 'demo'

/** The project of `--project`, or of DATASTORE_PROJECT_ID, or of its old name DATASTORE_DATASET, or the default. */
export function projectOf(flags: Flags, env: Readonly<Record<string, string | undefined>>): string {
  const named = text(flags, 'project') ?? text(flags, 'project-id')
  return named ?? (env['DATASTORE_PROJECT_ID'] || env['DATASTORE_DATASET'] || defaultProject)
}

/** The database of `--database`; empty for the default one. */
export function databaseOf(flags: Flags): string {
  return databaseIdOf(String(last(flags['database']) ?? ''))
}
