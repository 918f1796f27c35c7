/** The address of an entity's page. */
import { addressOf, type QueryMembers } from './route.ts'

/** The default database and namespace are empty, and left out. */
export interface EntityPlace {
  readonly project: string
  readonly database: string
  readonly namespace: string
}

/** @param key - path of the entity as text */
export function addressOfEntity(place: EntityPlace, key: string, more: QueryMembers = {}): string {
  return addressOf('entity', [place.project, key], { ...scopeQuery(place), ...more })
}

/** The members that name database and namespace in any address. */
export function scopeQuery({ database, namespace }: EntityPlace): QueryMembers {
  return { database: database || undefined, namespace: namespace || undefined }
}
