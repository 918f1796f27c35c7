/** Renames keys of one database to keys of another: an import does this to all keys, also inside values. */
import type { DatabaseName, Key } from '../model/key.ts'
import type { Properties, Value } from '../model/value.ts'

export interface Rename {
  readonly from: DatabaseName
  readonly to: DatabaseName
}

/** The key in the other database; keys of third databases are unchanged. */
export function renamedKey(key: Key, { from, to }: Rename): Key {
  const { projectId, databaseId, namespaceId } = key.partition
  // A key without a project is in the database of its entity.
  if (projectId !== '' && (projectId !== from.projectId || databaseId !== from.databaseId)) return key
  return { partition: { projectId: to.projectId, databaseId: to.databaseId, namespaceId }, path: key.path }
}

/** The properties with all keys renamed; the same object if there is nothing to rename. */
export function renamedProperties(properties: Properties, rename: Rename): Properties {
  const { from, to } = rename
  if (from.projectId === to.projectId && from.databaseId === to.databaseId) return properties
  return new Map([...properties].map(([name, value]) => [name, renamedValue(value, rename)]))
}

function renamedValue(value: Value, rename: Rename): Value {
  switch (value.type) {
    case 'key':
      return { ...value, key: renamedKey(value.key, rename) }
    case 'array':
      return { ...value, values: value.values.map((element) => renamedValue(element, rename)) }
    case 'entity': {
      const properties = renamedProperties(value.properties, rename)
      return value.key === undefined
        ? { ...value, properties }
        : { ...value, key: renamedKey(value.key, rename), properties }
    }
    default:
      return value
  }
}
