/** What masks mean, path by path on decoded maps: slow and plain, to compare the real thing with. */
import fc from 'fast-check'
import type { EntityValue, Properties, Value } from '../../src/model/value.ts'

/** Names by path; drawn so that they often hit what `propertyMaps` of the arbitraries makes. */
export const maskPaths: fc.Arbitrary<string[][]> = fc.array(
  fc.array(fc.constantFrom('a', 'b', 'ab', 'B', 'a.b', '1'), { minLength: 1, maxLength: 3 }),
  { maxLength: 4 },
)

function valueAt(properties: Properties, [name = '', ...inner]: readonly string[]): Value | undefined {
  const value = properties.get(name)
  if (inner.length === 0 || value === undefined) return value
  return value.type === 'entity' ? valueAt(value.properties, inner) : undefined
}

/** The entity that a new one on the way has its flags from. */
function entityLike(value: Value | undefined): EntityValue {
  if (value?.type !== 'entity') return { type: 'entity', properties: new Map() }
  const { key: _, ...rest } = value
  return { ...rest, properties: new Map() }
}

function withValue(properties: Properties, path: readonly string[], value: Value, written: Properties): Properties {
  const [name = '', ...inner] = path
  if (inner.length === 0) return new Map(properties).set(name, value)
  const there = properties.get(name)
  const like = written.get(name)
  const outer = there?.type === 'entity' ? there : entityLike(like)
  const inWritten = like?.type === 'entity' ? like.properties : new Map<string, Value>()
  return new Map(properties).set(name, { ...outer, properties: withValue(outer.properties, inner, value, inWritten) })
}

function withoutValue(properties: Properties, [name = '', ...inner]: readonly string[]): Properties {
  const there = properties.get(name)
  if (there === undefined) return properties
  const rest = new Map(properties)
  if (inner.length === 0) rest.delete(name)
  else if (there.type === 'entity') rest.set(name, { ...there, properties: withoutValue(there.properties, inner) })
  return rest
}

/** What is under the mask. */
export function modelCut(properties: Properties, paths: readonly (readonly string[])[]): Properties {
  return modelMerge(new Map(), properties, paths)
}

/** A masked write to what is stored: property by property, outer paths last, since they say more. */
export function modelMerge(stored: Properties, written: Properties, paths: readonly (readonly string[])[]): Properties {
  let merged = stored
  for (const path of paths.toSorted((a, b) => b.length - a.length)) {
    const value = valueAt(written, path)
    merged = value === undefined ? withoutValue(merged, path) : withValue(merged, path, value, written)
  }
  return merged
}
