/** Plain JavaScript values as property values and back, and keys as arrays: what a challenge's program works with. */
import type { Key, Value } from '@sixtables/engine'
import type { Fields } from '../sim/entities.ts'

/** A JavaScript number without a fraction is stored as an integer. */
export type Plain = string | number | bigint | boolean | null | Date | readonly Plain[]

/** Kind and name or id, root first: `['User', 'ada', 'Post', 17n]`. The last name or id may be absent: an id is given then. */
export type KeyPath = readonly (string | number | bigint)[]

/** Properties as the program sees them, with the key of their entity. */
export interface Entity {
  readonly key: KeyPath
  readonly [property: string]: Plain | KeyPath | undefined
}

export type Properties = Readonly<Record<string, Plain | undefined>>

export function valueFrom(plain: Plain): Value {
  if (plain === null) return { type: 'null' }
  if (typeof plain === 'string') return { type: 'string', value: plain }
  if (typeof plain === 'boolean') return { type: 'boolean', value: plain }
  if (typeof plain === 'bigint') return { type: 'integer', value: plain }
  if (typeof plain === 'number') {
    return Number.isInteger(plain) ? { type: 'integer', value: BigInt(plain) } : { type: 'double', value: plain }
  }
  if (plain instanceof Date) return { type: 'timestamp', micros: BigInt(plain.getTime()) * 1000n }
  if (Array.isArray(plain)) return { type: 'array', values: plain.map(valueFrom) }
  throw new TypeError(
    `a property holds ${String(plain)}; use text, numbers, true and false, null, Date and arrays of these`,
  )
}

export function plainOf(value: Value): Plain {
  switch (value.type) {
    case 'null':
      return null
    case 'string':
    case 'boolean':
    case 'double':
      return value.value
    case 'integer':
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value
    case 'timestamp':
      return new Date(Number(value.micros / 1000n))
    case 'array':
      return value.values.map(plainOf)
    default:
      throw new TypeError(`a program of a challenge cannot read a value of type ${value.type}`)
  }
}

/** @param unindexed - properties to exclude from indexes */
export function fieldsOf(properties: Properties, unindexed: readonly string[] = []): Fields {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, plain]) => {
      if (plain === undefined || name === 'key') return []
      const value = valueFrom(plain)
      return [[name, unindexed.includes(name) ? excluded(value) : value]]
    }),
  )
}

/** The flag of an array stands on its elements. */
function excluded(value: Value): Value {
  if (value.type === 'array') return { ...value, values: value.values.map(excluded) }
  return { ...value, excludeFromIndexes: true }
}

/** @throws TypeError when the array is no path of a key */
export function pathOf(key: KeyPath): Key['path'] {
  if (!Array.isArray(key) || key.length === 0)
    throw new TypeError(`a key is an array, such as ['User', 'ada'], not ${String(key)}`)
  const path: Key['path'][number][] = []
  for (let i = 0; i < key.length; i += 2) {
    const [kind, id] = [key[i], key[i + 1]]
    if (typeof kind !== 'string')
      throw new TypeError(`a kind is text, not ${String(kind)}, in the key ${key.join(', ')}`)
    if (id === undefined) path.push({ kind })
    else if (typeof id === 'string') path.push({ kind, name: id })
    else if (typeof id === 'bigint' || Number.isSafeInteger(id)) path.push({ kind, id: BigInt(id) })
    else throw new TypeError(`a name is text and an id is a whole number, not ${String(id)}, in a key of kind ${kind}`)
  }
  return path
}

export function keyPathOf(key: Key): KeyPath {
  return key.path.flatMap(({ kind, id, name }) =>
    name !== undefined ? [kind, name] : id !== undefined ? [kind, id] : [kind],
  )
}
