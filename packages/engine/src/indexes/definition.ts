/**
 * Rules for the definition of a composite index, and the normal form in which definitions are compared: ToDo(owner, due,
 * __key__) is ToDo(owner, due).
 *
 * Known: an ascending __key__ at the end has no effect, since rows with equal columns are in key order anyway;
 * single-property indexes are built in; at most 100 properties.
 */
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { formatIndex, type IndexDefinition, type IndexedProperty } from '../model/index-definition.ts'
import { keyProperty } from '../tables/entities-by-composite-property.ts'

/** The normal form of a definition. INVALID_ARGUMENT for one that no query could use, or that is built in. */
export function plainDefinition({ kind, ancestor, properties }: IndexDefinition): IndexDefinition {
  const last = properties.at(-1)
  const named = last?.name === keyProperty && last.direction === 'ascending' ? properties.slice(0, -1) : properties
  const definition: IndexDefinition = {
    kind,
    ancestor,
    properties: named.map(({ name, direction }): IndexedProperty => ({ name, direction })),
  }
  check(definition)
  return definition
}

/** A text that is equal for equal definitions in normal form, and for no others. */
export function identityOf({ kind, ancestor, properties }: IndexDefinition): string {
  return JSON.stringify([kind, ancestor, ...properties.flatMap(({ name, direction }) => [name, direction])])
}

function check(definition: IndexDefinition): void {
  const { kind, ancestor, properties } = definition
  if (kind === '') throw invalidArgument('a composite index needs a kind')
  if (/^__.*__$/.test(kind)) throw invalidArgument(`the kind ${kind} is reserved and has no composite indexes`)
  checkLength('the kind', kind, limits.kindBytesMax)
  const name = `the index ${formatIndex(definition)}`
  if (properties.length === 0) {
    throw invalidArgument(`an index on ${kind} needs at least one property besides an ascending ${keyProperty}`)
  }
  if (properties.length > limits.compositeIndexPropertiesMax) {
    throw invalidArgument(
      `${name} has ${properties.length} properties; at most ${limits.compositeIndexPropertiesMax} are allowed`,
    )
  }
  if (properties.length === 1 && !ancestor && properties[0]?.name !== keyProperty) {
    throw invalidArgument(`${name} is not needed: indexes on a single property are built in`)
  }
  for (const [i, property] of properties.entries()) {
    if (property.name === '') throw invalidArgument(`${name} has a property without a name`)
    checkLength('the name of a property', property.name, limits.propertyNameBytesMax)
    if (property.name === keyProperty && i < properties.length - 1) {
      throw invalidArgument(`${name}: ${keyProperty} can only be the last property`)
    }
  }
}

function checkLength(what: string, text: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > bytesMax) throw invalidArgument(`${what} has ${bytes} bytes; at most ${bytesMax} are allowed`)
}
