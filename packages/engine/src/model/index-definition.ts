/** Composite index definitions: ToDo(owner, due desc) has two properties, the second one descending. */

export interface IndexedProperty {
  readonly name: string
  readonly direction: 'ascending' | 'descending'
}

export interface IndexDefinition {
  readonly kind: string
  /** Whether an entity has its rows once for each of its ancestors and once for itself. */
  readonly ancestor: boolean
  /** At least two, or one with `ancestor` (single-property indexes are built in). `__key__` may be the last one. */
  readonly properties: readonly IndexedProperty[]
}

/** A definition with its number, which its rows begin with. */
export interface CompositeIndex extends IndexDefinition {
  readonly id: bigint
}

/** `ToDo(owner, due desc)`; for an ancestor index `ToDo(ancestor, due)`. */
export function formatIndex(index: IndexDefinition): string {
  const columns = index.properties.map((p) => (p.direction === 'descending' ? `${p.name} desc` : p.name))
  return `${index.kind}(${[...(index.ancestor ? ['ancestor'] : []), ...columns].join(', ')})`
}
