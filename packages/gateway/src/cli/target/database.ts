/** Project, database and namespace of a command. */
import type { PartitionId } from '@sixtables/engine'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import { databaseIdOf } from '../../convert/parameters.ts'
import type { Flags, Io } from '../framework/command.ts'
import { last, text } from '../framework/flag-values.ts'

export const defaultProject = 'demo'

/** The project of `--project`, or of DATASTORE_PROJECT_ID, or of its old name DATASTORE_DATASET, or the default. */
export function projectOf(flags: Flags, env: Io['env']): string {
  const named = text(flags, 'project') ?? text(flags, 'project-id')
  return named ?? (env['DATASTORE_PROJECT_ID'] || env['DATASTORE_DATASET'] || defaultProject)
}

/** The database of `--database`; empty for the default one. */
export function databaseOf(flags: Flags): string {
  return databaseIdOf(String(last(flags['database']) ?? ''))
}

export function partitionOf(flags: Flags, env: Io['env']): PartitionId {
  const namespaceId = String(flags['namespace'] ?? '')
  return { projectId: projectOf(flags, env), databaseId: databaseOf(flags), namespaceId }
}

/** `project demo, database d, namespace n`, without default parts. */
export function placeInWords({ project, database, namespace }: Parameters): string {
  const parts = [`project ${project}`]
  if (database) parts.push(`database ${database}`)
  if (namespace) parts.push(`namespace ${namespace}`)
  return parts.join(', ')
}
