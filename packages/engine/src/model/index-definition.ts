/** Composite index definitions. */

export interface IndexedProperty {
  readonly name: string
  readonly direction: 'ascending' | 'descending'
}

export interface IndexDefinition {
  readonly kind: string
  /** Whether each row set is repeated for every ancestor of the entity and the entity itself. */
  readonly ancestor: boolean
  /** At least two, or one with `ancestor` (a single property alone is built in). `__key__` may stand last. */
  readonly properties: readonly IndexedProperty[]
}

/** A definition with the number that leads its rows. */
export interface CompositeIndex extends IndexDefinition {
  readonly id: bigint
}

/** `ToDo(owner, due desc)`; an ancestor index says so: `ToDo(ancestor, due)`. */
export function formatIndex(index: IndexDefinition): string {
  const columns = index.properties.map((p) => (p.direction === 'descending' ? `${p.name} desc` : p.name))
  return `${index.kind}(${[...(index.ancestor ? ['ancestor'] : []), ...columns].join(', ')})`
}
